import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../../cli/client.ts'
import type { JobAccepted, JobView } from '../../daemon/api/schemas/jobs.ts'
import { locateHome } from '../../daemon/core/home.ts'
import { processStartedAt } from '../../daemon/core/processes.ts'
import { createPackageFolder, nodeServer, type PackageFolder, serverProgram } from '../e2e/packages.ts'
import { createTestHome, type TestHome } from '../e2e/testHome.ts'
import { missing } from '../provision/requirements.ts'

const reason = await missing('docker', 'npm-registry')

/** SIGKILL, and the end of the process: reaped by init, it is gone from /proc or a zombie. */
async function killDaemon(home: TestHome): Promise<void> {
  const pid = home.daemonPid()
  process.kill(pid, 'SIGKILL')
  await expect.poll(() => processStartedAt(pid)).toBeNull()
}

describe.skipIf(reason)(`kill -9 of the daemon [${reason}]`, () => {
  let home: TestHome
  let folder: PackageFolder
  beforeAll(async () => {
    folder = await createPackageFolder()
  })
  afterAll(() => folder?.[Symbol.asyncDispose]())
  beforeEach(async () => {
    home = await createTestHome({ driver: 'docker' })
  })
  afterEach(() => home?.[Symbol.asyncDispose]())

  const client = () => createClient({ home: locateHome({ PKGD_HOME: home.path }), url: undefined, token: undefined, autostart: null })

  it('the next one adopts the same containers and the same MCP sessions, again and again', async () => {
    const ids = ['one', 'two', 'three']
    for (const id of ids)
      expect(await home.pkg(['install', await folder.write(nodeServer(id), { 'server.mjs': serverProgram() }), '--start'])).toMatchObject({
        exitCode: 0,
      })
    const before = (await home.containers()).map(({ id }) => id).sort()
    expect(before).toHaveLength(3)
    for (let life = 1; life <= 3; life++) {
      for (const id of ids) expect((await home.pkg(['call', `${id}/pid`])).stdout).toBe(`${life}\n`)
      await killDaemon(home)
      expect(await home.pkg(['daemon', 'start'])).toMatchObject({ exitCode: 0 })
      expect((await home.containers()).map(({ id }) => id).sort()).toEqual(before)
    }
    const events = (await home.pkg(['events', '--type', 'package.adopted', '--json'])).stdout
    expect(events.trim().split('\n')).toHaveLength(9)
  })

  it('a call in flight does not confuse the next daemon', async () => {
    const onCall = `if (params.arguments.message === 'late') { setTimeout(() => answer(id, { content: [{ type: 'text', text: 'late' }] }), 500); continue }`
    await home.pkg(['install', await folder.write(nodeServer('slow'), { 'server.mjs': serverProgram({ onCall }) }), '--start'])
    const flight = home
      .rest('POST', '/v1/tools/call', { package: 'slow', tool: 'echo', arguments: { message: 'late' } })
      .catch((error: NodeJS.ErrnoException) => error.code)
    expect((await home.pkg(['call', 'slow/echo', '{"message":"before"}'])).stdout).toBe('before\n')
    await killDaemon(home)
    expect(await flight).toMatch(/ECONNRESET|EPIPE/)
    await home.pkg(['daemon', 'start'])
    for (let round = 0; round < 5; round++)
      expect((await home.pkg(['call', 'slow/echo', `{"message":"${round}"}`])).stdout).toBe(`${round}\n`)
  })

  it('what was stopped stays stopped, what died meanwhile is started, what nobody knows is removed', async () => {
    for (const id of ['rests', 'dies'])
      await home.pkg(['install', await folder.write(nodeServer(id), { 'server.mjs': serverProgram() }), '--start'])
    await home.pkg(['stop', 'rests'])
    const [dying] = await home.containers()
    await killDaemon(home)
    const Docker = (await import('dockerode')).default
    await new Docker().getContainer(dying?.id ?? '').remove({ force: true })
    await home.pkg(['daemon', 'start'])
    await expect.poll(async () => (await home.pkg(['call', 'dies/echo', '{"message":"back"}'])).stdout, { timeout: 20_000 }).toBe('back\n')
    expect((await home.containers()).map(({ packageId }) => packageId)).toEqual(['dies'])
  })

  it.each(['plan', 'fetch', 'verify', 'unpack', 'dependencies', 'commit', 'lockfile'])(
    'during install, at %s: the old state stays',
    async (stage) => {
      await home.pkg(['install', await folder.write(nodeServer('kept'), { 'server.mjs': serverProgram() })])
      const before = await home.snapshot()
      const { body } = await home.rest<JobAccepted>('POST', '/v1/packages', {
        spec: 'npm:@modelcontextprotocol/server-sequential-thinking',
      })
      const reached = await reachStage(client(), body.job.id, stage)
      if (reached === 'ended') return // the stage was too short to be met: the install is complete, which the next test of the loop does not need
      await killDaemon(home)
      await home.pkg(['daemon', 'start'])
      const listed = (await home.pkg(['list', '--json'])).json<{ id: string }[]>().map(({ id }) => id)
      if (listed.includes('server-sequential-thinking')) {
        expect((await home.pkg(['start', 'server-sequential-thinking'])).exitCode).toBe(0)
      } else {
        expect(listed).toEqual(['kept'])
        expect(await home.snapshot()).toEqual(before)
      }
      const job = (await home.pkg(['jobs', body.job.id, '--json'])).json<JobView>()
      expect(job.state).toMatch(/failed|succeeded/)
      expect((await home.pkg(['start', 'kept'])).exitCode).toBe(0)
    },
  )
})

async function reachStage(client: ReturnType<typeof createClient>, job: string, stage: string): Promise<'reached' | 'ended'> {
  for await (const view of client.stream<JobView>(`/v1/jobs/${job}/events`)) if (view.stage === stage) return 'reached'
  return 'ended'
}
