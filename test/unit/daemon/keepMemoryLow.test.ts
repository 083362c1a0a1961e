import { afterEach, expect, test, vi } from 'vitest'
import type { CloudEvent } from '../../../daemon/core/events.ts'
import { keepMemoryLow } from '../../../daemon/keepMemoryLow.ts'
import { createManualClock } from './manual.ts'

afterEach(() => vi.unstubAllGlobals())

function setUp() {
  const collect = vi.fn()
  vi.stubGlobal('gc', collect)
  const listeners = new Set<(event: CloudEvent) => void>()
  const events = {
    subscribe(_glob: string, listener: (event: CloudEvent) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const happen = () => {
    for (const listener of listeners) {
      listener({ specversion: '1.0', id: '1', source: '/', type: 'x', time: '', datacontenttype: 'application/json', data: {} })
    }
  }
  const clock = createManualClock()
  return { collect, happen, clock, listeners, resting: keepMemoryLow({ events, clock }) }
}

test('garbage is collected once after the start, and once after each time that something happened', () => {
  const { collect, happen, clock } = setUp()
  clock.advance(2_000)
  expect(collect).toHaveBeenCalledTimes(1)
  clock.advance(60_000)
  expect(collect).toHaveBeenCalledTimes(1)
  happen()
  clock.advance(1_500)
  happen()
  clock.advance(1_500)
  expect(collect).toHaveBeenCalledTimes(1)
  clock.advance(500)
  expect(collect).toHaveBeenCalledTimes(2)
})

test('nothing is left of it when it is disposed', () => {
  const { collect, happen, clock, listeners, resting } = setUp()
  happen()
  resting[Symbol.dispose]()
  expect(listeners.size).toBe(0)
  clock.advance(60_000)
  expect(collect).not.toHaveBeenCalled()
})
