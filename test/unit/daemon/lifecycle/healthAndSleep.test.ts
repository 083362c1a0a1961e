import { describe, expect, test } from 'vitest'
import { settled } from './manualClock.ts'
import { useDaemon } from './useDaemon.ts'

const fixture = useDaemon()
const { never, install, start, stop, status, session, crash } = fixture

describe('health', () => {
  test('a package that stops answering is restarted', async () => {
    install('a', { health: { intervalMs: 10_000, timeoutMs: 1_000, retries: 2 } })
    await start('a')
    const [first] = fixture.bench.running('a')
    void session('a')
      .call('!hang')
      .catch(() => undefined)
    await fixture.bench.clock.advance(21_500)
    expect(status('a')).toMatchObject({ state: 'running', health: 'healthy' })
    await fixture.bench.clock.advance(1_500)
    expect(fixture.bench.running('a')).toHaveLength(1)
    expect(fixture.bench.running('a')[0]).not.toBe(first)
    expect(fixture.bench.events.filter((event) => event.type === 'package.health').map((event) => event.data)).toContainEqual(
      expect.objectContaining({ health: 'unhealthy' }),
    )
  })

  test('a frozen package is not probed, and a call thaws it', async () => {
    install('a', { health: { intervalMs: 1_000, timeoutMs: 500, retries: 1 } })
    await start('a')
    fixture.bench.engine.freeze(fixture.bench.running('a')[0] ?? '')
    await fixture.bench.clock.advance(60_000)
    expect(status('a').state).toBe('frozen')
    await fixture.daemon.lifecycle.ensureRunning('a', never)
    expect(status('a').state).toBe('running')
    expect(await session('a').call('x')).toBe('x')
  })
})

describe('on demand', () => {
  const onDemand = { start: { mode: 'on-demand', idleTimeoutMs: 60_000 } } as const

  test('the first call starts it and idleness puts it back to sleep', async () => {
    install('a', onDemand)
    expect(status('a').state).toBe('asleep')
    await Promise.all([fixture.daemon.lifecycle.ensureRunning('a', never), fixture.daemon.lifecycle.ensureRunning('a', never)])
    expect(fixture.bench.engine.sandboxes.size).toBe(1)
    await fixture.bench.clock.advance(50_000)
    await fixture.daemon.lifecycle.ensureRunning('a', never)
    await fixture.bench.clock.advance(50_000)
    expect(status('a').state).toBe('running')
    await fixture.bench.clock.advance(20_000)
    expect(status('a')).toMatchObject({ state: 'asleep', reason: 'idle' })
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
    await fixture.daemon.lifecycle.ensureRunning('a', never)
    expect(status('a').state).toBe('running')
  })

  test('it never sleeps during a call', async () => {
    install('a', { ...onDemand, health: { intervalMs: 10_000_000 } })
    await fixture.daemon.lifecycle.ensureRunning('a', never)
    void session('a')
      .call('!hang')
      .catch(() => undefined)
    await fixture.bench.clock.advance(600_000)
    expect(status('a').state).toBe('running')
  })

  test('one whose stop could not be finished is not woken, and is stopped when the engine is back', async () => {
    install('a', onDemand)
    await fixture.daemon.lifecycle.ensureRunning('a', never)
    const row = fixture.bench.state.sandboxes.get('a')
    await fixture.bench.clock.advance(120_000)
    expect(status('a').state).toBe('asleep')
    fixture.bench.engine.lose('gone')
    await settled()
    // As if the removal after the sleep had not been reached.
    if (row) fixture.bench.state.sandboxes.put(row)
    await expect(stop('a')).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    await expect(fixture.daemon.lifecycle.ensureRunning('a', never)).rejects.toMatchObject({ code: 'NOT_RUNNING' })
    fixture.bench.engine.find()
    await settled()
    expect(status('a')).toMatchObject({ state: 'stopped', desired: 'stopped' })
    expect(fixture.bench.state.sandboxes.list()).toEqual([])
  })

  test('a wake that fails is told to the call, and the next call tries again', async () => {
    install('a', onDemand)
    const take = fixture.bench.engine.before('launch', () => {
      throw new Error('no space')
    })
    await expect(fixture.daemon.lifecycle.ensureRunning('a', never)).rejects.toMatchObject({ code: 'INTERNAL' })
    expect(status('a')).toMatchObject({ state: 'asleep', lastError: { code: 'INTERNAL', message: 'Something went wrong inside pkgd' } })
    take()
    await fixture.daemon.lifecycle.ensureRunning('a', never)
    expect(status('a').state).toBe('running')
  })

  test('a call that gives up does not cancel the wake of the others', async () => {
    install('a', onDemand)
    const gate = Promise.withResolvers<void>()
    fixture.bench.engine.before('launch', () => gate.promise)
    const impatient = new AbortController()
    const first = fixture.daemon.lifecycle.ensureRunning('a', impatient.signal).catch((error: unknown) => error)
    const second = fixture.daemon.lifecycle.ensureRunning('a', never)
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
    await expect(fixture.daemon.lifecycle.ensureRunning('a', never)).rejects.toMatchObject({ code: 'NOT_RUNNING', hint: 'pkg start a' })
    await start('a')
    crash('a')
    await settled()
    const waiting = fixture.daemon.lifecycle.ensureRunning('a', never)
    await fixture.bench.clock.advance(250)
    await waiting
    expect(await session('a').call('x')).toBe('x')
  })
})
