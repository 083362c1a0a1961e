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
    expect((await home.pkg(['events', '--type', 'package.adopted', '--json'])).json<unknown[]>()).toHaveLength(9)
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

  /** A package with a file of its own and an npm dependency: its install has every stage. */
  const installing = async () =>
    folder.write(nodeServer('newcomer', { dependencies: { packages: ['semver@^7'] } }), { 'server.mjs': serverProgram() })

  /** After a death at any moment: the package is wholly there and works, or nothing of it is; what was there before works either way. */
  const expectWholeOrNothing = async (job: string, before: Record<string, string>) => {
    await home.pkg(['daemon', 'start'])
    const listed = (await home.pkg(['list', '--json'])).json<{ id: string }[]>().map(({ id }) => id)
    if (listed.includes('newcomer')) expect((await home.pkg(['start', 'newcomer'])).exitCode).toBe(0)
    else expect(await home.snapshot()).toEqual(before)
    expect(listed).toContain('kept')
    expect((await home.pkg(['jobs', job, '--json'])).json<JobView>().state).toMatch(/failed|succeeded/)
    expect((await home.pkg(['start', 'kept'])).exitCode).toBe(0)
    return listed.includes('newcomer')
  }

  it.each(['plan', 'fetch', 'dependencies', 'store'])('during install, at %s: the old state stays', async (stage) => {
    const spec = await installing()
    await home.pkg(['install', await folder.write(nodeServer('kept'), { 'server.mjs': serverProgram() })])
    const before = await home.snapshot()
    const { body } = await home.rest<JobAccepted>('POST', '/v1/packages', { spec })
    expect(await reachStage(client(), body.job.id, stage)).toBe('reached')
    await killDaemon(home)
    await expectWholeOrNothing(body.job.id, before)
  })

  it('during install, at moments all over it: whole or nothing', async () => {
    const spec = await installing()
    await home.pkg(['install', await folder.write(nodeServer('kept'), { 'server.mjs': serverProgram() })])
    const begin = performance.now()
    expect(await home.pkg(['install', spec])).toMatchObject({ exitCode: 0 })
    const whole = performance.now() - begin
    await home.pkg(['uninstall', 'newcomer', '--purge'])
    const before = await home.snapshot()
    const moments = [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1.05]
    for (const moment of moments) {
      const { body } = await home.rest<JobAccepted>('POST', '/v1/packages', { spec })
      await new Promise((resolve) => setTimeout(resolve, whole * moment))
      await killDaemon(home)
      if (await expectWholeOrNothing(body.job.id, before)) await home.pkg(['uninstall', 'newcomer', '--purge'])
      await home.pkg(['stop', 'kept'])
    }
  })
})

async function reachStage(client: ReturnType<typeof createClient>, job: string, stage: string): Promise<'reached' | 'ended'> {
  for await (const view of client.stream<JobView>(`/v1/jobs/${job}/events`)) if (view.stage === stage) return 'reached'
  return 'ended'
}
