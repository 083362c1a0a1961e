import { describe, expect, test } from 'vitest'
import { settled } from './manualClock.ts'
import { useDaemon } from './useDaemon.ts'

const fixture = useDaemon()
const { never, install, start, stop, status, session, crash, told } = fixture

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
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
    await fixture.bench.clock.advance(600_000)
    expect(status('a').state).toBe('stopped')
    expect(told('a')).toEqual(['starting', 'running', 'stopping', 'stopped'])
  })

  test('kills what is deaf to SIGTERM, so that the whole stop takes its grace', async () => {
    install('a', { command: ['deaf-echo'] })
    await start('a')
    const stopped = stop('a')
    await fixture.bench.clock.advance(2_699)
    expect(fixture.bench.running('a')).toHaveLength(1)
    await fixture.bench.clock.advance(1)
    await stopped
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
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
    await fixture.bench.clock.advance(600_000)
    expect(status('a').state).toBe('stopped')
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
  })

  test('while the engine is away fails, and is done when it is back', async () => {
    install('a')
    await start('a')
    fixture.bench.engine.lose('gone')
    await settled()
    await expect(stop('a')).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    expect(status('a')).toMatchObject({ state: 'failed', reason: 'stop-failed', desired: 'stopped' })
    fixture.bench.engine.find()
    await settled()
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
    expect(status('a').desired).toBe('stopped')
  })
})

describe('a crash', () => {
  test('fails the calls at once with why, and it is back within half a second', async () => {
    install('a')
    await start('a')
    const first = fixture.bench.running('a')
    const call = session('a')
      .call('!hang')
      .catch((error: unknown) => error)
    fixture.bench.engine.oom(first[0] ?? '')
    await settled()
    expect(await call).toMatchObject({ code: 'PACKAGE_CRASHED', message: expect.stringContaining('memory limit') })
    expect(status('a')).toMatchObject({ state: 'backoff', lastError: { code: 'PACKAGE_CRASHED' } })
    await fixture.bench.clock.advance(250)
    expect(status('a').state).toBe('running')
    expect(fixture.bench.running('a')).not.toEqual(first)
    expect(fixture.bench.engine.sandboxes.size).toBe(1)
    expect(await session('a').call('x')).toBe('x')
  })

  test('again and again ends as a crash loop that a start ends', async () => {
    install('a', { restart: { maxRetries: 2 } })
    await start('a')
    for (let crashes = 0; crashes < 3; crashes++) {
      crash('a')
      await fixture.bench.clock.advance(30_000)
    }
    expect(status('a')).toMatchObject({ state: 'failed', reason: 'crash-loop', desired: 'running' })
    await expect(fixture.daemon.lifecycle.ensureRunning('a', never)).rejects.toMatchObject({
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
    await fixture.bench.clock.advance(60_000)
    expect(status('a')).toMatchObject({ state: 'stopped', reason: 'exited' })
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
  })

  test('by removal behind our back is noticed', async () => {
    install('a')
    await start('a')
    fixture.bench.engine.remove(fixture.bench.running('a')[0] ?? '')
    await fixture.bench.clock.advance(250)
    expect(status('a').state).toBe('running')
    expect(fixture.bench.running('a')).toHaveLength(1)
  })

  test('leaves its last words for the log', async () => {
    install('a')
    await start('a')
    void session('a')
      .call('!throw')
      .catch(() => undefined)
    await settled()
    fixture.bench.engine.before('launch', () => {
      throw new Error('no more')
    })
    await fixture.bench.clock.advance(200)
    const lines = await Array.fromAsync(fixture.daemon.lifecycle.logs('a', { follow: false, signal: never }))
    expect(lines.map((entry) => entry.line)).toEqual(['Error: thrown on cue'])
  })
})
