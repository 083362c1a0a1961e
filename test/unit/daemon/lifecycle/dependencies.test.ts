import { beforeEach, describe, expect, test } from 'vitest'
import { settled } from './manualClock.ts'
import { useDaemon } from './useDaemon.ts'

const fixture = useDaemon()
const { context, install, start, stop, status, session } = fixture

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
    const running = fixture.bench.events.filter(
      (event) => event.type === 'package.state' && (event.data as { to: string }).to === 'running',
    )
    expect(running.map((event) => event.subject)).toEqual(['db', 'api', 'ui', 'other'])
    fixture.bench.events.length = 0
    await stop('db')
    const stopped = fixture.bench.events.filter(
      (event) => event.type === 'package.state' && (event.data as { to: string }).to === 'stopped',
    )
    expect(stopped.map((event) => event.subject)).toEqual(['ui', 'api', 'db'])
    expect(status('ui').desired).toBe('stopped')
    expect(status('other').state).toBe('running')
  })

  test('one that does not start holds back only those who need it', async () => {
    fixture.bench.engine.before('launch', (id) => {
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
    const [first] = fixture.bench.running('a')
    const result = await fixture.daemon.lifecycle.withStopped(
      'a',
      async () => {
        expect(fixture.bench.engine.sandboxes.size).toBe(0)
        fixture.bench.install('a', { version: '2.0.0' })
        return 7
      },
      context,
    )
    expect(result).toBe(7)
    expect(status('a')).toMatchObject({ state: 'running', desired: 'running' })
    expect(fixture.bench.running('a')[0]).not.toBe(first)
    expect([...fixture.bench.engine.sandboxes.values()][0]?.spec.identity.version).toBe('2.0.0')
  })

  test('removal inside it leaves nothing', async () => {
    install('a')
    await start('a')
    await fixture.daemon.lifecycle.withStopped(
      'a',
      async () => {
        fixture.bench.state.packages.remove('a')
        await fixture.daemon.lifecycle.removed('a')
      },
      context,
    )
    expect(fixture.bench.engine.sandboxes.size).toBe(0)
    expect(fixture.bench.state.sandboxes.list()).toEqual([])
    expect(() => fixture.daemon.lifecycle.get('a')).toThrow(expect.objectContaining({ code: 'PACKAGE_NOT_FOUND' }))
  })

  test('restart makes a new sandbox and never wishes it stopped', async () => {
    install('a')
    await start('a')
    const [first] = fixture.bench.running('a')
    await fixture.daemon.lifecycle.restart('a', context)
    expect(fixture.bench.running('a')).toHaveLength(1)
    expect(fixture.bench.running('a')[0]).not.toBe(first)
  })
})

describe('the engine', () => {
  test('gone and back with everything dead: what should run runs again', async () => {
    install('a')
    install('b')
    await start('a')
    fixture.bench.engine.lose('stopped', { killing: true })
    await settled()
    expect(status('a').state).toBe('running')
    await expect(start('b')).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    fixture.bench.engine.find()
    await fixture.bench.clock.advance(1_000)
    expect(status('a').state).toBe('running')
    expect(fixture.bench.running('a')).toHaveLength(1)
    expect(fixture.bench.engine.sandboxes.size).toBe(1)
    expect(fixture.bench.events.map((event) => event.type)).toEqual(expect.arrayContaining(['driver.degraded', 'driver.recovered']))
  })

  test('gone and back with everything alive: nothing is restarted', async () => {
    install('a')
    await start('a')
    const before = fixture.bench.running('a')
    fixture.bench.engine.lose('restarting')
    await fixture.bench.clock.advance(5_000)
    fixture.bench.engine.find()
    await fixture.bench.clock.advance(5_000)
    expect(fixture.bench.running('a')).toEqual(before)
    expect(await session('a').call('x')).toBe('x')
  })
})
