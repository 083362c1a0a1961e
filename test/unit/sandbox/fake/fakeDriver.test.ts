import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeDriver, type FakeDriver } from '../../../../sandbox/fake/fakeDriver.ts'
import { createFakeEngine, type FakeEngine } from '../../../../sandbox/fake/fakeEngine.ts'
import { eatMemory, echoLines, exitWith, hang, ignoreTerm, mcpEcho } from '../../../../sandbox/fake/fakePrograms.ts'
import type { LaunchSpec, SandboxEvent } from '../../../../sandbox/sandboxDriver.ts'

const programs = { echo: echoLines, exit: exitWith, hang, deaf: ignoreTerm, eat: eatMemory, mcp: mcpEcho }
const context = { signal: new AbortController().signal, progress: () => undefined }
const never = new AbortController().signal

let engine: FakeEngine
let driver: FakeDriver
const events: SandboxEvent[] = []
let watching: AbortController

const watch = (on: FakeDriver) => {
  watching = new AbortController()
  const { signal } = watching
  void (async () => {
    for await (const event of on.events(signal)) events.push(event)
  })()
}

beforeEach(() => {
  events.length = 0
  engine = createFakeEngine({ programs })
  driver = createFakeDriver({ engine, daemon: 'aaaaaaaa' })
  watch(driver)
})
afterEach(async () => {
  watching.abort()
  await driver[Symbol.asyncDispose]()
})

const spec = async (command: readonly string[], over: Partial<LaunchSpec> = {}): Promise<LaunchSpec> => ({
  identity: { daemon: 'aaaaaaaa', packageId: 'one', version: '1.0.0', spec: 'x' },
  image: await driver.prepareImage({ runtime: 'node' }, context),
  tree: 'sha512-0',
  command,
  env: {},
  uid: 200000,
  limits: { memoryBytes: 64 * 1024 * 1024, cpus: 1, pids: 10, tmpBytes: 1024 },
  network: { mode: 'none' },
  mounts: [],
  data: null,
  logBytes: 1024,
  allowUnenforced: [],
  ...over,
})
const launch = async (...command: string[]) => (await driver.launch(await spec(command), context)).handle
const lines = (channel: Duplex) => createInterface({ input: channel })[Symbol.asyncIterator]()

test('a channel carries lines both ways and the program outlives it', async () => {
  const handle = await launch('echo')
  const first = await driver.stdio(handle)
  const reader = lines(first)
  first.write('hello\n')
  expect((await reader.next()).value).toBe('hello')
  await expect(driver.stdio(handle)).rejects.toMatchObject({ code: 'CONFLICT' })
  first.destroy()
  await once(first, 'close')
  const second = await driver.stdio(handle)
  const again = lines(second)
  second.write('there\n')
  expect((await again.next()).value).toBe('there')
})

test('a program that never reads holds its writer back', async () => {
  const handle = await launch('hang')
  const channel = await driver.stdio(handle)
  const written = Promise.withResolvers<void>()
  let done = false
  channel.write(Buffer.alloc(200_000), () => {
    done = true
    written.resolve()
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toBe(false)
  channel.destroy()
  await written.promise
})

test.each([
  { command: ['exit', '3'], exit: { kind: 'exit', code: 3 } },
  { command: ['eat'], exit: { kind: 'oom' } },
])('$command ends as $exit', async ({ command, exit }) => {
  const handle = await launch(...command)
  await engine.sandboxes.get(handle.id)?.process.exit
  expect((await driver.recover(handle))?.status).toMatchObject({ state: 'exited', exit })
  expect(events.map((event) => event.kind)).toEqual(['started', 'exited'])
})

test('stop is SIGTERM, then SIGKILL after the grace; again is fine', async () => {
  const soft = await launch('hang')
  expect(await driver.stop(soft, 1000)).toMatchObject({ kind: 'signal', signal: 'SIGTERM' })
  const deaf = await launch('deaf')
  await new Promise((resolve) => setImmediate(resolve))
  expect(await driver.stop(deaf, 5)).toMatchObject({ kind: 'signal', signal: 'SIGKILL' })
  expect(await driver.stop(deaf, 5)).toMatchObject({ kind: 'signal', signal: 'SIGKILL' })
  const log = await Array.fromAsync(driver.logs(deaf, { follow: false, signal: never }))
  expect(log.map((entry) => entry.line)).toEqual(['SIGTERM ignored'])
  await driver.destroy(deaf)
  await driver.destroy(deaf)
  await expect(driver.stop(deaf, 5)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
})

test('sandboxes are adopted by the next driver of the same daemon and seen by no other', async () => {
  const handle = await launch('echo')
  const old = await driver.stdio(handle)
  driver.die()
  expect(old.destroyed).toBe(true)
  driver = createFakeDriver({ engine, daemon: 'aaaaaaaa' })
  expect((await driver.list()).map((info) => info.handle)).toEqual([handle])
  const stranger = createFakeDriver({ engine, daemon: 'bbbbbbbb' })
  expect(await stranger.list()).toEqual([])
  const channel = await driver.stdio(handle)
  channel.write('still\n')
  expect((await lines(channel).next()).value).toBe('still')
})

test('a frozen program answers when it is thawed', async () => {
  const handle = await launch('echo')
  const channel = await driver.stdio(handle)
  await driver.freeze(handle)
  expect((await driver.recover(handle))?.status.state).toBe('frozen')
  const reader = lines(channel)
  const answer = reader.next()
  channel.write('late\n')
  expect(await Promise.race([answer, new Promise((resolve) => setImmediate(() => resolve('silent')))])).toBe('silent')
  await driver.thaw(handle)
  expect((await answer).value).toBe('late')
})

test('a lost engine answers nothing and is found again', async () => {
  const handle = await launch('echo')
  engine.lose('stopped by the test', { killing: true })
  await expect(driver.list()).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
  engine.find()
  expect((await driver.recover(handle))?.status.state).toBe('exited')
  await new Promise((resolve) => setImmediate(resolve))
  expect(events.map((event) => event.kind)).toEqual(['started', 'lost', 'found'])
})

test('a limit that cannot be enforced is refused, or passes where it is allowed', async () => {
  engine = createFakeEngine({ programs, capabilities: { unenforced: { cpu: 'no cgroup' } } })
  driver = createFakeDriver({ engine, daemon: 'aaaaaaaa' })
  await expect(driver.launch(await spec(['hang']), context)).rejects.toMatchObject({ code: 'LIMIT_NOT_ENFORCED' })
  expect(await driver.list()).toEqual([])
  const { report } = await driver.launch(await spec(['hang'], { allowUnenforced: ['cpu'] }), context)
  expect(report.limits.cpu).toMatchObject({ enforced: false, note: 'no cgroup' })
  await expect(driver.launch(await spec(['hang'], { network: { mode: 'allow', targets: [] } }), context)).rejects.toMatchObject({
    code: 'NETWORK_UNSUPPORTED',
  })
  await expect(driver.launch(await spec(['absent'], { allowUnenforced: ['cpu'] }), context)).rejects.toMatchObject({
    code: 'COMMAND_NOT_FOUND',
  })
})

test('a hook fails or delays an operation', async () => {
  const take = engine.before('launch', () => {
    throw new Error('no space')
  })
  await expect(launch('hang')).rejects.toThrow('no space')
  take()
  await launch('hang')
})

test('a build runs to its end and its output is kept', async () => {
  const build = await spec(['exit', '4', 'no', 'wheel'])
  expect(await driver.runToEnd({ ...build, mounts: [], reach: [] }, context)).toMatchObject({
    exit: { kind: 'exit', code: 4 },
    output: 'no wheel',
  })
})

test('mcpEcho speaks MCP', async () => {
  const channel = await driver.stdio(await launch('mcp'))
  const reader = lines(channel)
  channel.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { message: 'hi' } } })}\n`,
  )
  expect(JSON.parse(String((await reader.next()).value))).toMatchObject({ id: 1, result: { content: [{ text: 'hi' }] } })
})

test('volumes stay until they are removed', async () => {
  const { name } = await driver.volumes.ensure('one', 200000)
  expect(await driver.volumes.list()).toEqual([{ packageId: 'one', name }])
  await driver.volumes.remove('one')
  expect(await driver.volumes.list()).toEqual([])
})
