import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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
const stop = (id: string) => daemon.lifecycle.stop(id, context)
const status = (id: string) => daemon.lifecycle.get(id).status
const session = (id: string) => {
  const found = daemon.host.sessions.get(id)
  if (!found) throw new Error(`${id} has no session`)
  return found
}
const crash = (id: string) => bench.engine.kill(bench.running(id)[0] ?? '')
/** The states that a package went through, as told on the bus. */
const told = (id: string) =>
  bench.events
    .filter((event) => event.type === 'package.state' && event.subject === id)
    .map((event) => (event.data as { readonly to: string }).to)

describe('start', () => {
  test('gets it ready and says so', async () => {
    install('a')
    expect(status('a')).toMatchObject({ state: 'stopped', desired: 'stopped' })
    const view = await start('a')
    expect(view.status).toMatchObject({ state: 'running', health: 'healthy', desired: 'running', wasReady: true, lastError: null })
    expect(view.sandbox?.session).toEqual({ token: session('a').token })
    expect(view.sandbox?.handle.id).toBe(bench.running('a')[0])
    expect(await session('a').call('x')).toBe('x')
    expect(told('a')).toEqual(['starting', 'running'])
  })

  test('again is fine and starts nothing', async () => {
    install('a')
    await Promise.all([start('a'), start('a')])
    await start('a')
    expect(bench.engine.sandboxes.size).toBe(1)
  })

  test.each([
    {
      name: 'one that exits',
      command: ['exit', '3', 'no', 'key'],
      code: 'START_FAILED',
      message: /exited with code 3/,
      hint: /it said: no key/,
    },
    { name: 'one that eats memory', command: ['eat'], code: 'START_FAILED', message: /memory limit of 64MB/, hint: /--memory/ },
    {
      name: 'a command that the shell did not find',
      command: ['exit', '127'],
      code: 'COMMAND_NOT_FOUND',
      message: /exit of a/,
      hint: /^$/,
    },
    { name: 'a command that the driver did not find', command: ['absent'], code: 'COMMAND_NOT_FOUND', message: /absent/, hint: /programs/ },
    { name: 'one that hangs', command: ['hang'], code: 'HANDSHAKE_TIMEOUT', message: /within 30 s/, hint: /^$/ },
    { name: 'one that prints garbage', command: ['garbage'], code: 'HANDSHAKE_TIMEOUT', message: /within 30 s/, hint: /^$/ },
  ])('of $name fails with $code and leaves nothing', async ({ command, code, message, hint }) => {
    install('a', { command })
    const outcome = start('a').catch((error: unknown) => error)
    await bench.clock.advance(40_000)
    const error = (await outcome) as PkgdError
    expect(error).toMatchObject({ code })
    expect(error.message).toMatch(message)
    expect(error.hint ?? '').toMatch(hint)
    expect(bench.engine.sandboxes.size).toBe(0)
    expect(daemon.lifecycle.get('a')).toMatchObject({
      sandbox: null,
      status: { state: 'failed', reason: 'start-failed', desired: 'stopped', lastError: { code } },
    })
    await bench.clock.advance(600_000)
    expect(told('a')).toEqual(['starting', 'failed'])
  })

  test('that takes too long to pull or to boot ends in time, and what comes late is removed', async () => {
    install('a')
    const pull = Promise.withResolvers<void>()
    const take = bench.engine.before('prepareImage', () => pull.promise)
    const slow = start('a').catch((error: unknown) => error)
    await bench.clock.advance(60_000)
    expect(await slow).toMatchObject({ code: 'IMAGE_UNAVAILABLE' })
    take()
    pull.resolve()
    const boot = Promise.withResolvers<void>()
    bench.engine.before('launch', () => boot.promise)
    const slower = start('a').catch((error: unknown) => error)
    await bench.clock.advance(10_000)
    expect(await slower).toMatchObject({ code: 'START_FAILED' })
    boot.resolve()
    await settled()
    expect(bench.engine.sandboxes.size).toBe(0)
  })

  test('of a changed tree names the files', async () => {
    await daemon.lifecycle[Symbol.asyncDispose]()
    daemon = bench.boot({ store: { verify: async () => [{ path: 'server.py', problem: 'changed' }] } })
    install('a')
    await expect(start('a')).rejects.toMatchObject({ code: 'TREE_CHANGED', message: expect.stringContaining('server.py (changed)') })
  })

  test('of a type without a host, and of a missing value, say so before anything is launched', async () => {
    install('agent', { type: 'a2a-agent' })
    await expect(start('agent')).rejects.toMatchObject({ code: 'TYPE_NOT_HOSTED' })
    await daemon.lifecycle[Symbol.asyncDispose]()
    daemon = bench.boot({
      planLaunch: () => {
        throw new PkgdError('ENV_MISSING', 'KEY is missing', { hint: 'set it' })
      },
    })
    install('a')
    await expect(start('a')).rejects.toMatchObject({ code: 'ENV_MISSING', hint: 'set it' })
    expect(bench.engine.sandboxes.size).toBe(0)
  })

  test('that is cancelled leaves it stopped', async () => {
    install('a', { command: ['hang'] })
    const cancel = new AbortController()
    const outcome = daemon.lifecycle.start('a', { ...context, signal: cancel.signal }).catch((error: unknown) => error)
    await settled()
    expect(bench.running('a')).toHaveLength(1)
    cancel.abort()
    expect(await outcome).toMatchObject({ code: 'OPERATION_CANCELLED' })
    await settled()
    expect(status('a')).toMatchObject({ state: 'stopped', desired: 'stopped' })
    expect(bench.engine.sandboxes.size).toBe(0)
  })

  test('is bounded in parallel, and one that hangs gives way', async () => {
    for (const id of ['h1', 'h2', 'h3', 'h4']) install(id, { command: ['hang'] })
    install('good')
    const hanging = ['h1', 'h2', 'h3', 'h4'].map((id) => start(id).catch((error: unknown) => error))
    await settled()
    const good = start('good')
    await settled()
    expect(status('good').state).toBe('starting')
    expect(bench.running('good')).toEqual([])
    await bench.clock.advance(5_000)
    expect((await good).status.state).toBe('running')
    await bench.clock.advance(30_000)
    await Promise.all(hanging)
  })
})

describe('an unknown package', () => {
  test('is named with the nearest id', async () => {
    install('weather')
    expect(() => daemon.lifecycle.get('wether')).toThrow(
      expect.objectContaining({ code: 'PACKAGE_NOT_FOUND', hint: expect.stringContaining('weather') }),
    )
    await expect(start('wether')).rejects.toMatchObject({ code: 'PACKAGE_NOT_FOUND' })
  })
})

describe('stop', () => {
  test('stays, and its calls are told', async () => {
    install('a')
    await start('a')
    const call = session('a')
      .call('!hang')
      .catch((error: unknown) => error)
    const view = await stop('a')
    expect(await call).toMatchObject({ code: 'NOT_RUNNING' })
    expect(view).toMatchObject({ sandbox: null, status: { state: 'stopped', desired: 'stopped' } })
    expect(bench.engine.sandboxes.size).toBe(0)
    await bench.clock.advance(600_000)
    expect(status('a').state).toBe('stopped')
    expect(told('a')).toEqual(['starting', 'running', 'stopping', 'stopped'])
  })

  test('kills what is deaf to SIGTERM, so that the whole stop takes its grace', async () => {
    install('a', { command: ['deaf-echo'] })
    await start('a')
    const stopped = stop('a')
    await bench.clock.advance(2_699)
    expect(bench.running('a')).toHaveLength(1)
    await bench.clock.advance(1)
    await stopped
    expect(bench.engine.sandboxes.size).toBe(0)
  })

  test('cuts a start short', async () => {
    install('a', { command: ['hang'] })
    const starting = start('a').catch((error: unknown) => error)
    await settled()
    await stop('a')
    expect(await starting).toMatchObject({ code: 'OPERATION_CANCELLED' })
    expect(status('a')).toMatchObject({ state: 'stopped', desired: 'stopped' })
  })

  test('of one in backoff ends the restarts', async () => {
    install('a')
    await start('a')
    crash('a')
    await settled()
    expect(status('a').state).toBe('backoff')
    await stop('a')
    await bench.clock.advance(600_000)
    expect(status('a').state).toBe('stopped')
    expect(bench.engine.sandboxes.size).toBe(0)
  })

  test('while the engine is away fails, and is done when it is back', async () => {
    install('a')
    await start('a')
    bench.engine.lose('gone')
    await settled()
    await expect(stop('a')).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    expect(status('a')).toMatchObject({ state: 'failed', reason: 'stop-failed', desired: 'stopped' })
    bench.engine.find()
    await settled()
    expect(bench.engine.sandboxes.size).toBe(0)
    expect(status('a').desired).toBe('stopped')
  })
})

describe('a crash', () => {
  test('fails the calls at once with why, and it is back within half a second', async () => {
    install('a')
    await start('a')
    const first = bench.running('a')
    const call = session('a')
      .call('!hang')
      .catch((error: unknown) => error)
    bench.engine.oom(first[0] ?? '')
    await settled()
    expect(await call).toMatchObject({ code: 'PACKAGE_CRASHED', message: expect.stringContaining('memory limit') })
    expect(status('a')).toMatchObject({ state: 'backoff', lastError: { code: 'PACKAGE_CRASHED' } })
    await bench.clock.advance(250)
    expect(status('a').state).toBe('running')
    expect(bench.running('a')).not.toEqual(first)
    expect(bench.engine.sandboxes.size).toBe(1)
    expect(await session('a').call('x')).toBe('x')
  })

  test('again and again ends as a crash loop that a start ends', async () => {
    install('a', { restart: { maxRetries: 2 } })
    await start('a')
    for (let crashes = 0; crashes < 3; crashes++) {
      crash('a')
      await bench.clock.advance(30_000)
    }
    expect(status('a')).toMatchObject({ state: 'failed', reason: 'crash-loop', desired: 'running' })
    await expect(daemon.lifecycle.ensureRunning('a', never)).rejects.toMatchObject({
      code: 'NOT_RUNNING',
      hint: expect.stringContaining('pkg start a'),
    })
    await start('a')
    expect(status('a')).toMatchObject({ state: 'running', restarts: [] })
  })

  test('with code 0 is an end under on-failure', async () => {
    install('a')
    await start('a')
    void session('a')
      .call('!exit 0')
      .catch(() => undefined)
    await bench.clock.advance(60_000)
    expect(status('a')).toMatchObject({ state: 'stopped', reason: 'exited' })
    expect(bench.engine.sandboxes.size).toBe(0)
  })

  test('by removal behind our back is noticed', async () => {
    install('a')
    await start('a')
    bench.engine.remove(bench.running('a')[0] ?? '')
    await bench.clock.advance(250)
    expect(status('a').state).toBe('running')
    expect(bench.running('a')).toHaveLength(1)
  })

  test('leaves its last words for the log', async () => {
    install('a')
    await start('a')
    void session('a')
      .call('!throw')
      .catch(() => undefined)
    await settled()
    bench.engine.before('launch', () => {
      throw new Error('no more')
    })
    await bench.clock.advance(200)
    const lines = await Array.fromAsync(daemon.lifecycle.logs('a', { follow: false, signal: never }))
    expect(lines.map((entry) => entry.line)).toEqual(['Error: thrown on cue'])
  })
})

describe('health', () => {
  test('a package that stops answering is restarted', async () => {
    install('a', { health: { intervalMs: 10_000, timeoutMs: 1_000, retries: 2 } })
    await start('a')
    const [first] = bench.running('a')
    void session('a')
      .call('!hang')
      .catch(() => undefined)
    await bench.clock.advance(21_500)
    expect(status('a')).toMatchObject({ state: 'running', health: 'healthy' })
    await bench.clock.advance(1_500)
    expect(bench.running('a')).toHaveLength(1)
    expect(bench.running('a')[0]).not.toBe(first)
    expect(bench.events.filter((event) => event.type === 'package.health').map((event) => event.data)).toContainEqual(
      expect.objectContaining({ health: 'unhealthy' }),
    )
  })

  test('a frozen package is not probed, and a call thaws it', async () => {
    install('a', { health: { intervalMs: 1_000, timeoutMs: 500, retries: 1 } })
    await start('a')
    bench.engine.freeze(bench.running('a')[0] ?? '')
    await bench.clock.advance(60_000)
    expect(status('a').state).toBe('frozen')
    await daemon.lifecycle.ensureRunning('a', never)
    expect(status('a').state).toBe('running')
    expect(await session('a').call('x')).toBe('x')
  })
})

describe('on demand', () => {
  const onDemand = { start: { mode: 'on-demand', idleTimeoutMs: 60_000 } } as const

  test('the first call starts it and idleness puts it back to sleep', async () => {
    install('a', onDemand)
    expect(status('a').state).toBe('asleep')
    await Promise.all([daemon.lifecycle.ensureRunning('a', never), daemon.lifecycle.ensureRunning('a', never)])
    expect(bench.engine.sandboxes.size).toBe(1)
    await bench.clock.advance(50_000)
    await daemon.lifecycle.ensureRunning('a', never)
    await bench.clock.advance(50_000)
    expect(status('a').state).toBe('running')
    await bench.clock.advance(20_000)
    expect(status('a')).toMatchObject({ state: 'asleep', reason: 'idle' })
    expect(bench.engine.sandboxes.size).toBe(0)
    await daemon.lifecycle.ensureRunning('a', never)
    expect(status('a').state).toBe('running')
  })

  test('it never sleeps during a call', async () => {
    install('a', { ...onDemand, health: { intervalMs: 10_000_000 } })
    await daemon.lifecycle.ensureRunning('a', never)
    void session('a')
      .call('!hang')
      .catch(() => undefined)
    await bench.clock.advance(600_000)
    expect(status('a').state).toBe('running')
  })

  test('one whose stop could not be finished is not woken, and is stopped when the engine is back', async () => {
    install('a', onDemand)
    await daemon.lifecycle.ensureRunning('a', never)
    const row = bench.state.sandboxes.get('a')
    await bench.clock.advance(120_000)
    expect(status('a').state).toBe('asleep')
    bench.engine.lose('gone')
    await settled()
    // As if the removal after the sleep had not been reached.
    if (row) bench.state.sandboxes.put(row)
    await expect(stop('a')).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    await expect(daemon.lifecycle.ensureRunning('a', never)).rejects.toMatchObject({ code: 'NOT_RUNNING' })
    bench.engine.find()
    await settled()
    expect(status('a')).toMatchObject({ state: 'stopped', desired: 'stopped' })
    expect(bench.state.sandboxes.list()).toEqual([])
  })

  test('a wake that fails is told to the call, and the next call tries again', async () => {
    install('a', onDemand)
    const take = bench.engine.before('launch', () => {
      throw new Error('no space')
    })
    await expect(daemon.lifecycle.ensureRunning('a', never)).rejects.toMatchObject({ code: 'INTERNAL' })
    expect(status('a')).toMatchObject({ state: 'asleep', lastError: { message: expect.stringContaining('no space') } })
    take()
    await daemon.lifecycle.ensureRunning('a', never)
    expect(status('a').state).toBe('running')
  })

  test('a call that gives up does not cancel the wake of the others', async () => {
    install('a', onDemand)
    const gate = Promise.withResolvers<void>()
    bench.engine.before('launch', () => gate.promise)
    const impatient = new AbortController()
    const first = daemon.lifecycle.ensureRunning('a', impatient.signal).catch((error: unknown) => error)
    const second = daemon.lifecycle.ensureRunning('a', never)
    await settled()
    impatient.abort(new Error('too long'))
    expect(await first).toMatchObject({ message: 'too long' })
    gate.resolve()
    await second
    expect(status('a').state).toBe('running')
  })
})

describe('ensureRunning', () => {
  test('waits for one that is on its way and refuses a stopped one', async () => {
    install('a')
    await expect(daemon.lifecycle.ensureRunning('a', never)).rejects.toMatchObject({ code: 'NOT_RUNNING', hint: 'pkg start a' })
    await start('a')
    crash('a')
    await settled()
    const waiting = daemon.lifecycle.ensureRunning('a', never)
    await bench.clock.advance(250)
    await waiting
    expect(await session('a').call('x')).toBe('x')
  })
})

describe('dependencies', () => {
  beforeEach(() => {
    install('db')
    install('api', { needs: ['db'] })
    install('ui', { needs: ['api'] })
    install('other')
  })

  test('start before, stop after', async () => {
    await start('ui')
    await start('other')
    const running = bench.events.filter((event) => event.type === 'package.state' && (event.data as { to: string }).to === 'running')
    expect(running.map((event) => event.subject)).toEqual(['db', 'api', 'ui', 'other'])
    bench.events.length = 0
    await stop('db')
    const stopped = bench.events.filter((event) => event.type === 'package.state' && (event.data as { to: string }).to === 'stopped')
    expect(stopped.map((event) => event.subject)).toEqual(['ui', 'api', 'db'])
    expect(status('ui').desired).toBe('stopped')
    expect(status('other').state).toBe('running')
  })

  test('one that does not start holds back only those who need it', async () => {
    bench.engine.before('launch', (id) => {
      if (id === 'db') throw new Error('broken')
    })
    const [ui, other] = await Promise.allSettled([start('ui'), start('other')])
    expect(ui).toMatchObject({ reason: { code: 'START_FAILED', message: 'ui needs db, which did not start' } })
    expect(other.status).toBe('fulfilled')
    expect(status('ui').state).toBe('stopped')
  })
})

describe('replacing', () => {
  test('withStopped keeps everyone out, and it is as it was afterwards', async () => {
    install('a')
    await start('a')
    const [first] = bench.running('a')
    const result = await daemon.lifecycle.withStopped(
      'a',
      async () => {
        expect(bench.engine.sandboxes.size).toBe(0)
        bench.install('a', { version: '2.0.0' })
        return 7
      },
      context,
    )
    expect(result).toBe(7)
    expect(status('a')).toMatchObject({ state: 'running', desired: 'running' })
    expect(bench.running('a')[0]).not.toBe(first)
    expect([...bench.engine.sandboxes.values()][0]?.spec.identity.version).toBe('2.0.0')
  })

  test('removal inside it leaves nothing', async () => {
    install('a')
    await start('a')
    await daemon.lifecycle.withStopped(
      'a',
      async () => {
        bench.state.packages.remove('a')
        await daemon.lifecycle.removed('a')
      },
      context,
    )
    expect(bench.engine.sandboxes.size).toBe(0)
    expect(bench.state.sandboxes.list()).toEqual([])
    expect(() => daemon.lifecycle.get('a')).toThrow(expect.objectContaining({ code: 'PACKAGE_NOT_FOUND' }))
  })

  test('restart makes a new sandbox and never wishes it stopped', async () => {
    install('a')
    await start('a')
    const [first] = bench.running('a')
    await daemon.lifecycle.restart('a', context)
    expect(bench.running('a')).toHaveLength(1)
    expect(bench.running('a')[0]).not.toBe(first)
  })
})

describe('the engine', () => {
  test('gone and back with everything dead: what should run runs again', async () => {
    install('a')
    install('b')
    await start('a')
    bench.engine.lose('stopped', { killing: true })
    await settled()
    expect(status('a').state).toBe('running')
    await expect(start('b')).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    bench.engine.find()
    await bench.clock.advance(1_000)
    expect(status('a').state).toBe('running')
    expect(bench.running('a')).toHaveLength(1)
    expect(bench.engine.sandboxes.size).toBe(1)
    expect(bench.events.map((event) => event.type)).toEqual(expect.arrayContaining(['driver.degraded', 'driver.recovered']))
  })

  test('gone and back with everything alive: nothing is restarted', async () => {
    install('a')
    await start('a')
    const before = bench.running('a')
    bench.engine.lose('restarting')
    await bench.clock.advance(5_000)
    bench.engine.find()
    await bench.clock.advance(5_000)
    expect(bench.running('a')).toEqual(before)
    expect(await session('a').call('x')).toBe('x')
  })
})
