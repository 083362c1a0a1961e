import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CloudEvent } from '../../../../daemon/core/events.ts'
import { locateHome } from '../../../../daemon/core/home.ts'
import { createEventBus } from '../../../../daemon/events/createEventBus.ts'
import type { EventGap } from '../../../../daemon/events/eventBus.ts'
import { createEventMatcher } from '../../../../daemon/events/eventGlob.ts'
import { openState } from '../../../../daemon/store/openState.ts'
import type { State } from '../../../../daemon/store/state.ts'
import { createManualClock, createMemoryLog } from '../manual.ts'

test.each([
  ['*', 'package.state', true],
  ['package.*', 'package.state', true],
  ['package.*', 'packages.state', false],
  ['package.*', 'xpackage.state', false],
  ['package.state', 'package.state', true],
  ['package.state', 'packagexstate', false],
  ['*.changed', 'tools.changed', true],
  ['p*.s*e', 'package.state', true],
  ['(', '(', true],
])('glob %s on %s: %s', (glob, type, matches) => {
  expect(createEventMatcher(glob)(type)).toBe(matches)
})

let root: string
let state: State
const clock = createManualClock()
const log = createMemoryLog()
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pkgd-events-'))
  state = openState({ home: locateHome({ PKGD_HOME: root }), clock, log })
})
afterEach(() => {
  state[Symbol.dispose]()
  rmSync(root, { recursive: true, force: true })
})

const open = (keep = { keepMs: 3600_000, keepAtMost: 10_000 }) =>
  createEventBus({ events: state.events, source: '/pkgd/test', keep: () => keep, clock, log })

test('an event is stored before it is told, and a listener that throws harms nobody', () => {
  const bus = open()
  const told: string[] = []
  bus.subscribe('tools.*', () => {
    throw new Error('mine')
  })
  const stop = bus.subscribe('tools.*', (event) => {
    expect(state.events.last()).toBe(event.id)
    told.push(event.type)
  })
  const event = bus.publish('tools.changed', 'a', { count: 1 })
  bus.publish('prompts.changed', 'a', { count: 1 })
  stop()
  bus.publish('tools.changed', 'a', { count: 2 })
  expect(told).toEqual(['tools.changed'])
  expect(event).toMatchObject({ specversion: '1.0', id: '1', source: '/pkgd/test', subject: 'a', data: { count: 1 } })
  expect(log.lines.join()).toContain('an event listener failed')
})

const turn = () => new Promise(setImmediate)

const take = async (stream: AsyncIterable<CloudEvent | EventGap>, count: number) => {
  const ids: string[] = []
  for await (const item of stream) {
    ids.push('kind' in item ? `${item.reason} after ${item.after}` : item.id)
    if (ids.length === count) break
  }
  return ids
}

test('a stream resumes after the last id and goes on live, without a gap or a repeat', async () => {
  const bus = open()
  for (let n = 0; n < 250; n++) bus.publish('tools.changed', 'a', { count: n })
  const abort = new AbortController()
  const stream = bus.stream({ glob: '*', lastId: '7', signal: abort.signal })
  const reading = take(stream, 250 - 7 + 50)
  for (let n = 0; n < 50; n++) {
    await Promise.resolve()
    bus.publish('tools.changed', 'a', { count: n })
  }
  expect(await reading).toEqual(Array.from({ length: 293 }, (_, n) => String(n + 8)))
})

test('without a last id only what comes is told; the signal ends a waiting stream', async () => {
  const bus = open()
  bus.publish('tools.changed', 'a', { count: 0 })
  const abort = new AbortController()
  const reading = take(bus.stream({ glob: 'prompts.*', signal: abort.signal }), 9)
  await Promise.resolve()
  bus.publish('prompts.changed', 'a', { count: 1 })
  bus.publish('tools.changed', 'a', { count: 1 })
  await new Promise(setImmediate)
  abort.abort()
  expect(await reading).toEqual(['2'])
})

test('history filters and pages', () => {
  const bus = open()
  for (let n = 0; n < 300; n++) bus.publish(n % 3 === 0 ? 'tools.changed' : 'prompts.changed', 'a', { count: n })
  const ids = (query: Partial<Parameters<typeof bus.history>[0]>) =>
    bus.history({ glob: 'tools.*', limit: 3, ...query }).map(({ id }) => id)
  expect(ids({ lastId: '0' })).toEqual(['1', '4', '7'])
  expect(ids({ lastId: '7' })).toEqual(['10', '13', '16'])
  expect(ids({})).toEqual(['292', '295', '298'])
  expect(ids({ before: '292' })).toEqual(['283', '286', '289'])
  expect(ids({ before: '4' })).toEqual(['1'])
  expect(ids({ before: '1' })).toEqual([])
  expect(bus.history({ glob: 'tools.*', lastId: '290', limit: 100 }).map(({ id }) => id)).toEqual(['292', '295', '298'])
  expect(bus.history({ glob: 'tools.*', limit: 1000 })).toHaveLength(100)
})

test('a stream after an id that was never given begins with what is stored, and says so', async () => {
  const bus = open()
  const { signal } = new AbortController()
  expect(bus.gapAfter('7')).toEqual({ kind: 'gap', reason: 'unknown', after: '7' })
  const reading = take(bus.stream({ glob: '*', lastId: '7', signal }), 3)
  for (let n = 0; n < 2; n++) bus.publish('tools.changed', 'a', { count: n })
  expect(await reading).toEqual(['unknown after 7', '1', '2'])
  expect([bus.gapAfter('0'), bus.gapAfter('1'), bus.gapAfter('2')]).toEqual([null, null, null])
})

test('a stream says what retention has removed, at its beginning and behind its reader', async () => {
  const bus = open({ keepMs: 1000, keepAtMost: 10_000 })
  const { signal } = new AbortController()
  const publish = (count: number) => {
    for (let n = 0; n < count; n++) bus.publish('tools.changed', 'a', { count: n })
  }
  publish(150)
  const stream = bus.stream({ glob: '*', lastId: '149', signal })[Symbol.asyncIterator]()
  expect((await stream.next()).value).toMatchObject({ id: '150' })
  publish(340)
  clock.advance(5000)
  publish(10)
  expect(state.events.since('0', 1)[0]?.id).toBe('491')
  expect((await stream.next()).value).toEqual({ kind: 'gap', reason: 'removed', after: '150' })
  expect((await stream.next()).value).toMatchObject({ id: '491' })
  expect(await take(bus.stream({ glob: '*', lastId: '3', signal }), 2)).toEqual(['removed after 3', '491'])
  expect(await take(bus.stream({ glob: '*', lastId: '0', signal }), 1)).toEqual(['491'])
  clock.advance(5000)
  state.events.prune(new Date(clock.now()).toISOString(), 0)
  const late = take(bus.stream({ glob: '*', lastId: '3', signal }), 2)
  await turn()
  publish(1)
  expect(await late).toEqual(['removed after 3', '501'])
})

test('events of others are stored all or none', () => {
  const bus = open()
  expect(() =>
    bus.accept(
      [
        { type: 'acme.done', data: 1 },
        { type: 'package.state', data: 2 },
      ],
      'api',
    ),
  ).toThrow(expect.objectContaining({ code: 'USAGE' }))
  expect(state.events.last()).toBe('0')
  expect(bus.accept([{ type: 'acme.done', data: 1 }], 'api')).toMatchObject([{ source: '/pkgd/test/api', type: 'acme.done', data: 1 }])
})

test('old events go, by age and by number', () => {
  const bus = open({ keepMs: 1000, keepAtMost: 600 })
  bus.publish('tools.changed', 'old', { count: 0 })
  clock.advance(5000)
  for (let n = 0; n < 1499; n++) bus.publish('tools.changed', 'a', { count: n })
  expect(state.events.since('0', 5000).length).toBeLessThanOrEqual(600 + 500)
  expect(state.events.since('0', 1)[0]?.subject).toBe('a')
})
