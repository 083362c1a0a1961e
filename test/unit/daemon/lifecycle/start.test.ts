import { describe, expect, test } from 'vitest'
import { PkgdError } from '../../../../daemon/core/errors.ts'
import { settled } from './manualClock.ts'
import { useDaemon } from './useDaemon.ts'

const fixture = useDaemon()
const { context, install, start, status, session, told } = fixture

describe('start', () => {
  test('gets it ready and says so', async () => {
    install('a')
    expect(status('a')).toMatchObject({ state: 'stopped', desired: 'stopped' })
    const view = await start('a')
    expect(view.status).toMatchObject({ state: 'running', health: 'healthy', desired: 'running', wasReady: true, lastError: null })
    expect(view.sandbox?.session).toEqual({ token: session('a').token })
    expect(view.sandbox?.handle.id).toBe(fixture.bench.running('a')[0])
    expect(await session('a').call('x')).toBe('x')
    expect(told('a')).toEqual(['starting', 'running'])
  })

  test('again is fine and starts nothing', async () => {
    install('a')
    await Promise.all([start('a'), start('a')])
    await start('a')
    expect(fixture.bench.engine.sandboxes.size).toBe(1)
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
    await fixture.bench.clock.advance(40_000)
    const error = (await outcome) as PkgdError
    expect(error).toMatchObject({ code })
    expect(error.message).toMatch(message)
    expect(error.hint ?? '').toMatch(hint)
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
    expect(fixture.daemon.lifecycle.get('a')).toMatchObject({
      sandbox: null,
      status: { state: 'failed', reason: 'start-failed', desired: 'stopped', lastError: { code } },
    })
    await fixture.bench.clock.advance(600_000)
    expect(told('a')).toEqual(['starting', 'failed'])
  })

  test('that takes too long to pull or to boot ends in time, and what comes late is removed', async () => {
    install('a')
    const pull = Promise.withResolvers<void>()
    const take = fixture.bench.engine.before('prepareImage', () => pull.promise)
    const slow = start('a').catch((error: unknown) => error)
    await fixture.bench.clock.advance(60_000)
    expect(await slow).toMatchObject({ code: 'IMAGE_UNAVAILABLE' })
    take()
    pull.resolve()
    const boot = Promise.withResolvers<void>()
    fixture.bench.engine.before('launch', () => boot.promise)
    const slower = start('a').catch((error: unknown) => error)
    await fixture.bench.clock.advance(10_000)
    expect(await slower).toMatchObject({ code: 'START_FAILED' })
    boot.resolve()
    await settled()
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
  })

  test('of a changed tree names the files', async () => {
    await fixture.daemon.lifecycle[Symbol.asyncDispose]()
    fixture.daemon = fixture.bench.boot({ store: { verify: async () => [{ path: 'server.py', problem: 'changed' }] } })
    install('a')
    await expect(start('a')).rejects.toMatchObject({ code: 'TREE_CHANGED', message: expect.stringContaining('server.py (changed)') })
  })

  test('of a type without a host, and of a missing value, say so before anything is launched', async () => {
    install('agent', { type: 'a2a-agent' })
    await expect(start('agent')).rejects.toMatchObject({ code: 'TYPE_NOT_HOSTED' })
    await fixture.daemon.lifecycle[Symbol.asyncDispose]()
    fixture.daemon = fixture.bench.boot({
      planLaunch: () => {
        throw new PkgdError('ENV_MISSING', 'KEY is missing', { hint: 'set it' })
      },
    })
    install('a')
    await expect(start('a')).rejects.toMatchObject({ code: 'ENV_MISSING', hint: 'set it' })
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
  })

  test('that is cancelled leaves it stopped', async () => {
    install('a', { command: ['hang'] })
    const cancel = new AbortController()
    const outcome = fixture.daemon.lifecycle.start('a', { ...context, signal: cancel.signal }).catch((error: unknown) => error)
    await settled()
    expect(fixture.bench.running('a')).toHaveLength(1)
    cancel.abort()
    expect(await outcome).toMatchObject({ code: 'OPERATION_CANCELLED' })
    await settled()
    expect(status('a')).toMatchObject({ state: 'stopped', desired: 'stopped' })
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
  })

  test('is bounded in parallel, and one that hangs gives way', async () => {
    for (const id of ['h1', 'h2', 'h3', 'h4']) install(id, { command: ['hang'] })
    install('good')
    const hanging = ['h1', 'h2', 'h3', 'h4'].map((id) => start(id).catch((error: unknown) => error))
    await settled()
    const good = start('good')
    await settled()
    expect(status('good').state).toBe('starting')
    expect(fixture.bench.running('good')).toEqual([])
    await fixture.bench.clock.advance(5_000)
    expect((await good).status.state).toBe('running')
    await fixture.bench.clock.advance(30_000)
    await Promise.all(hanging)
  })
})

describe('an unknown package', () => {
  test('is named with the nearest id', async () => {
    install('weather')
    expect(() => fixture.daemon.lifecycle.get('wether')).toThrow(
      expect.objectContaining({ code: 'PACKAGE_NOT_FOUND', hint: expect.stringContaining('weather') }),
    )
    await expect(start('wether')).rejects.toMatchObject({ code: 'PACKAGE_NOT_FOUND' })
  })
})
