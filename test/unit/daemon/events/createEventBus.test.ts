import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CloudEvent } from '../../../../daemon/core/events.ts'
import { locateHome } from '../../../../daemon/core/home.ts'
import { createEventBus } from '../../../../daemon/events/createEventBus.ts'
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

const take = async (stream: AsyncIterable<CloudEvent>, count: number) => {
  const ids: string[] = []
  for await (const { id } of stream) {
    ids.push(id)
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
  expect(bus.history({ glob: 'tools.*', limit: 3 }).map(({ id }) => id)).toEqual(['1', '4', '7'])
  expect(bus.history({ glob: 'tools.*', lastId: '290', limit: 100 }).map(({ id }) => id)).toEqual(['292', '295', '298'])
  expect(bus.history({ glob: 'tools.*', limit: 1000 })).toHaveLength(100)
})

test('old events go, by age and by number', () => {
  const bus = open({ keepMs: 1000, keepAtMost: 600 })
  bus.publish('tools.changed', 'old', { count: 0 })
  clock.advance(5000)
  for (let n = 0; n < 1499; n++) bus.publish('tools.changed', 'a', { count: n })
  expect(state.events.since('0', 5000).length).toBeLessThanOrEqual(600 + 500)
  expect(state.events.since('0', 1)[0]?.subject).toBe('a')
})
