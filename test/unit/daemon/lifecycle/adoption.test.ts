import { afterEach, beforeEach, expect, test } from 'vitest'
import { PkgdError } from '../../../../daemon/core/errors.ts'
import { type Bench, createBench, type Daemon } from './bench.ts'
import { settled } from './manualClock.ts'

let bench: Bench
let daemon: Daemon
const context = { signal: new AbortController().signal, progress: () => undefined }
const never = new AbortController().signal

beforeEach(async () => {
  bench = createBench()
  daemon = bench.boot()
  await daemon.lifecycle.open()
})
afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

const install = (id: string, options?: Parameters<Bench['install']>[1]) => {
  bench.install(id, options)
  daemon.lifecycle.added(id)
}
const start = (id: string) => daemon.lifecycle.start(id, context)
const status = (id: string) => daemon.lifecycle.get(id).status
const reborn = async (over?: Parameters<Bench['boot']>[0]) => {
  bench.events.length = 0
  daemon = bench.boot(over)
  await daemon.lifecycle.open()
}
const ids = () => [...bench.engine.sandboxes.keys()].sort()

test('after a kill the next daemon adopts the same sandboxes and sessions', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `p${n}`)
  for (const name of names) install(name)
  await Promise.all(names.map(start))
  const before = ids()
  const tokens = names.map((name) => daemon.host.sessions.get(name)?.token)
  bench.kill()
  await reborn()
  expect(ids()).toEqual(before)
  expect(names.map((name) => daemon.host.sessions.get(name)?.token)).toEqual(tokens)
  expect(daemon.host.opened).toHaveLength(20)
  expect(daemon.host.opened.every((line) => line.endsWith('adopted'))).toBe(true)
  for (const name of names) expect(status(name)).toMatchObject({ state: 'running', health: 'healthy', reason: 'adopted' })
  expect(bench.events.filter((event) => event.type === 'package.adopted')).toHaveLength(20)
  expect(bench.events.filter((event) => event.type === 'package.state')).toEqual([])
  expect(await daemon.host.sessions.get('p7')?.call('x')).toBe('x')
})

test('after an orderly end too, twice over', async () => {
  install('a')
  await start('a')
  const before = ids()
  for (let life = 0; life < 2; life++) {
    await daemon.lifecycle[Symbol.asyncDispose]()
    await daemon.driver[Symbol.asyncDispose]()
    expect(ids()).toEqual(before)
    await reborn()
    expect(ids()).toEqual(before)
  }
})

test('an adopted package is watched like any other', async () => {
  install('a')
  await start('a')
  bench.kill()
  await reborn()
  bench.engine.kill(bench.running('a')[0] ?? '')
  await bench.clock.advance(250)
  expect(status('a').state).toBe('running')
  expect(ids()).toHaveLength(1)
})

test('a kill in the middle of a start leaves nothing that is not cleaned', async () => {
  install('a')
  const gate = Promise.withResolvers<void>()
  const take = bench.engine.before('stdio', () => gate.promise)
  void start('a').catch(() => undefined)
  await settled()
  const [half] = bench.running('a')
  expect(half).toBeDefined()
  bench.kill()
  take()
  await reborn()
  await settled()
  expect(bench.running('a')).toHaveLength(1)
  expect(bench.running('a')[0]).not.toBe(half)
  expect(status('a').state).toBe('running')
})

test('what nobody knows is removed, and nothing of another daemon is', async () => {
  install('a')
  await start('a')
  const [mine] = bench.running('a')
  const spec = bench.engine.sandboxes.get(mine ?? '')?.spec
  if (!spec) throw new Error('no sandbox')
  bench.engine.launch({ ...spec, identity: { ...spec.identity, packageId: 'ghost' } })
  bench.engine.launch(spec)
  const stranger = bench.engine.launch({ ...spec, identity: { ...spec.identity, daemon: 'ffffffff' } })
  bench.kill()
  await reborn()
  expect(ids()).toEqual([mine, stranger.handle.id].sort())
})

test('with a restored state what nobody knows is only reported', async () => {
  install('a')
  await start('a')
  const [mine] = bench.running('a')
  const spec = bench.engine.sandboxes.get(mine ?? '')?.spec
  if (!spec) throw new Error('no sandbox')
  const ghost = bench.engine.launch({ ...spec, identity: { ...spec.identity, packageId: 'ghost' } })
  bench.kill()
  const restored = Object.create(bench.state, { restored: { value: true } }) as typeof bench.state
  await reborn({ state: restored })
  expect(ids()).toEqual([mine, ghost.handle.id].sort())
})

test('what died meanwhile is started again, what was stopped stays stopped', async () => {
  install('a')
  install('b')
  await start('a')
  await start('b')
  await daemon.lifecycle.stop('b', context)
  const [first] = bench.running('a')
  bench.kill()
  bench.engine.kill(first ?? '')
  await reborn()
  await settled()
  expect(status('a').state).toBe('running')
  expect(bench.running('a')).toHaveLength(1)
  expect(status('b').state).toBe('stopped')
  expect(ids()).toHaveLength(1)
})

test('a stop that was killed half way is finished', async () => {
  install('a')
  await start('a')
  bench.engine.before('stop', () => new Promise<void>(() => undefined))
  void daemon.lifecycle.stop('a', context).catch(() => undefined)
  await settled()
  expect(status('a').state).toBe('stopping')
  bench.kill()
  await reborn()
  expect(status('a')).toMatchObject({ state: 'stopped', desired: 'stopped' })
  expect(ids()).toEqual([])
})

test('a session that cannot be proven is restarted, and that is said', async () => {
  install('a', { health: { timeoutMs: 1_000, retries: 1 } })
  await start('a')
  const [first] = bench.running('a')
  void daemon.host.sessions
    .get('a')
    ?.call('!hang')
    .catch(() => undefined)
  await settled()
  bench.kill()
  bench.events.length = 0
  daemon = bench.boot()
  const opened = daemon.lifecycle.open()
  await bench.clock.advance(10_000)
  await opened
  await bench.clock.advance(1_000)
  expect(bench.running('a')).toHaveLength(1)
  expect(bench.running('a')[0]).not.toBe(first)
  expect(status('a')).toMatchObject({
    state: 'running',
    lastError: { code: 'HANDSHAKE_TIMEOUT', message: expect.stringContaining('could not be taken over') },
  })
  expect(bench.events.find((event) => event.type === 'package.state')?.data).toMatchObject({ to: 'backoff', reason: 'adoption-failed' })
})

test('another version, or other values, replace the sandbox', async () => {
  install('a')
  install('b')
  await start('a')
  await start('b')
  const before = ids()
  bench.kill()
  bench.install('a', { env: { UNITS: 'metric' } })
  bench.install('b', { version: '1.0.1' })
  await reborn()
  await settled()
  expect(ids()).toHaveLength(2)
  expect(ids().filter((id) => before.includes(id))).toEqual([])
})

test('a value that is missing now does not end what runs', async () => {
  install('a')
  await start('a')
  const before = ids()
  bench.kill()
  await reborn({
    planLaunch: () => {
      throw new Error('a value is missing')
    },
  })
  expect(ids()).toEqual(before)
})

test('a frozen sandbox is thawed and adopted', async () => {
  install('a')
  await start('a')
  const before = ids()
  bench.engine.freeze(before[0] ?? '')
  await settled()
  bench.kill()
  await reborn()
  expect(ids()).toEqual(before)
  expect(status('a').state).toBe('running')
})

test('a sleeping package stays asleep, an awake one is adopted', async () => {
  const onDemand = { start: { mode: 'on-demand', idleTimeoutMs: 60_000 } } as const
  install('a', onDemand)
  install('b', onDemand)
  await daemon.lifecycle.ensureRunning('b', never)
  const before = ids()
  bench.kill()
  await reborn()
  await settled()
  expect(status('a').state).toBe('asleep')
  expect(status('b').state).toBe('running')
  expect(ids()).toEqual(before)
})

test('an engine that is away at the start is waited for', async () => {
  install('a')
  await start('a')
  const before = ids()
  bench.kill()
  bench.engine.lose('not up yet')
  await reborn()
  expect(status('a').state).toBe('running')
  expect(bench.events.map((event) => event.type)).toContain('driver.degraded')
  const call = daemon.lifecycle.ensureRunning('a', never)
  bench.engine.find()
  await call
  expect(ids()).toEqual(before)
  expect(daemon.host.opened).toEqual(['a adopted'])
})

test('dependencies are started in order after a machine restart, and a broken one holds back only its own', async () => {
  install('db')
  install('api', { needs: ['db'] })
  install('other')
  await start('api')
  await start('other')
  bench.kill()
  for (const id of ids()) bench.engine.remove(id)
  const take = bench.engine.before('launch', (id) => {
    if (id === 'db') throw new Error('broken')
  })
  await reborn()
  await settled()
  expect(status('other').state).toBe('running')
  expect(status('api')).toMatchObject({ state: 'failed', reason: 'dependency-failed', desired: 'running' })
  expect(status('db').state).toBe('backoff')
  take()
  await bench.clock.advance(1_000)
  expect(status('db').state).toBe('running')
  expect(status('api').state).toBe('running')
})

test('an engine that does not answer is asked again, by a daemon that is still there', async () => {
  const boot = () => bench.boot()
  install('a')
  await start('a')
  await daemon.lifecycle[Symbol.asyncDispose]()
  let asked = 0
  const answer = bench.engine.before('list', () => {
    asked++
    throw new PkgdError('ENGINE_UNREACHABLE', 'busy')
  })
  daemon = boot()
  await daemon.lifecycle.open()
  await bench.clock.advance(1_000)
  expect(asked).toBe(2)
  await daemon.lifecycle[Symbol.asyncDispose]()
  await bench.clock.advance(60_000)
  expect(asked).toBe(2)
  answer()
  await reborn()
  expect(status('a')).toMatchObject({ state: 'running', reason: 'adopted' })
})
