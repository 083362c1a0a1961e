import Docker from 'dockerode'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PackageView } from '../../daemon/api/schemas/packages.ts'
import { processStartedAt } from '../../daemon/core/processes.ts'
import { createPackageFolder, nodeServer, type PackageFolder, serverProgram } from '../e2e/packages.ts'
import { createTestHome, type TestHome } from '../e2e/testHome.ts'
import { missing } from '../provision/requirements.ts'

const reason = await missing('docker')
const patience = { timeout: 20_000 }

describe.skipIf(reason)(`what happens to a container behind the daemon's back [${reason}]`, () => {
  const docker = new Docker()
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

  const install = async (id: string, program: Parameters<typeof serverProgram>[0] = {}, ...flags: string[]) => {
    const spec = await folder.write(nodeServer(id), { 'server.mjs': serverProgram(program) })
    expect(await home.pkg(['install', spec, ...flags])).toMatchObject({ exitCode: 0 })
  }
  const view = async (id: string) => (await home.rest<PackageView>('GET', `/v1/packages/${id}`)).body
  const echo = async (id: string, message: string) => (await home.pkg(['call', `${id}/echo`, JSON.stringify({ message })])).stdout
  const only = async () => {
    const [container, ...more] = await home.containers()
    expect(more).toEqual([])
    if (!container) throw new Error('There is no container')
    return container.id
  }

  const killings: [string, (id: string) => Promise<unknown>, RegExp][] = [
    ['docker kill', (id) => docker.getContainer(id).kill(), /SIGKILL/],
    [
      'kill -9 of its init from the host',
      async (id) => process.kill((await docker.getContainer(id).inspect()).State.Pid, 'SIGKILL'),
      /SIGKILL/,
    ],
    ['docker rm -f', (id) => docker.getContainer(id).remove({ force: true }), /SIGKILL|removed/],
    ['docker stop', (id) => docker.getContainer(id).stop({ t: 1 }), /SIGTERM|SIGKILL|code/],
  ]
  it.each(killings)('%s: its calls fail at once with why, and it is back in one new container', async (_name, kill, why) => {
    await install('victim', { onCall: `if (params.arguments.message === 'never') continue` }, '--start')
    const before = await only()
    const flight = home.rest<{ code: string; detail: string }>('POST', '/v1/tools/call', {
      package: 'victim',
      tool: 'echo',
      arguments: { message: 'never' },
    })
    expect(await echo('victim', 'first')).toBe('first\n')
    await kill(before)
    const { body } = await flight
    expect(body).toMatchObject({ code: 'PACKAGE_CRASHED' })
    expect(body.detail).toMatch(why)
    expect(await echo('victim', 'again')).toBe('again\n')
    expect(await only()).not.toBe(before)
    expect(await view('victim')).toMatchObject({ state: 'running', lastError: { code: 'PACKAGE_CRASHED' } })
  })

  it('a container that eats its memory is said to have done so', async () => {
    await install(
      'glutton',
      { onCall: `if (params.arguments.message === 'eat') for (const held = []; ; ) held.push(Buffer.alloc(8 << 20, 1))` },
      '--start',
    )
    const { body } = await home.rest<{ code: string; detail: string }>('POST', '/v1/tools/call', {
      package: 'glutton',
      tool: 'echo',
      arguments: { message: 'eat' },
    })
    expect(body).toMatchObject({ code: 'PACKAGE_CRASHED', detail: expect.stringContaining('memory limit of 256MB') })
    expect(await echo('glutton', 'lighter')).toBe('lighter\n')
  })

  it('docker pause: it is frozen, and a call thaws it', async () => {
    await install('cold', {}, '--start')
    const id = await only()
    await docker.getContainer(id).pause()
    await expect.poll(async () => (await view('cold')).state, patience).toBe('frozen')
    expect(await echo('cold', 'warm')).toBe('warm\n')
    expect(await only()).toBe(id)
    expect((await view('cold')).state).toBe('running')
  })

  it('killed again and again it ends as a crash loop, and a start ends that', async () => {
    const spec = await folder.write(nodeServer('loop', { restart: { max_retries: 2 } }), { 'server.mjs': serverProgram() })
    await home.pkg(['install', spec, '--start'])
    const seen = new Set<string>()
    for (let deaths = 0; deaths < 3; deaths++) {
      await expect.poll(async () => (await view('loop')).state, patience).toBe('running')
      const id = await only()
      expect(seen.has(id)).toBe(false)
      seen.add(id)
      await docker.getContainer(id).kill()
      await expect.poll(async () => (await home.containers()).some((container) => container.id === id), patience).toBe(false)
    }
    await expect.poll(async () => (await view('loop')).state, patience).toBe('failed')
    expect(await view('loop')).toMatchObject({ reason: 'crash-loop' })
    expect(await home.containers()).toEqual([])
    expect(await home.pkg(['call', 'loop/echo', '{"message":"x"}'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('pkg start loop'),
    })
    expect((await home.pkg(['start', 'loop'])).exitCode).toBe(0)
    expect(await echo('loop', 'back')).toBe('back\n')
  })

  it('kill -9 of the daemon in the middle of a start: the next one leaves one container, and it works', async () => {
    const slow = `await new Promise((resolve) => setTimeout(resolve, 2000))`
    await install('slow', { before: slow })
    const starting = home.pkg(['start', 'slow'])
    await expect.poll(async () => (await home.containers()).some((container) => container.running), patience).toBe(true)
    const half = await only()
    const pid = home.daemonPid()
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => processStartedAt(pid), patience).toBeNull()
    expect((await starting).exitCode).not.toBe(0)
    await home.pkg(['daemon', 'start'])
    await expect.poll(async () => (await view('slow')).state, patience).toBe('running')
    expect(await only()).not.toBe(half)
    expect(await echo('slow', 'whole')).toBe('whole\n')
  })
})
