import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createKeyedLock } from '../../../../daemon/lifecycle/keyedLock.ts'
import { createStartSlots } from '../../../../daemon/lifecycle/startSlots.ts'
import { createManualClock, settled } from './manualClock.ts'

test('is fair, one at a time a key, and those who gave up are skipped', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ key: fc.constantFrom('a', 'b'), giveUp: fc.boolean() }), { maxLength: 12 }), async (wants) => {
      const lock = createKeyedLock()
      const order: Record<string, number[]> = { a: [], b: [] }
      const inside: Record<string, number> = { a: 0, b: 0 }
      const first = await Promise.all(['a', 'b'].map((key) => lock.acquire(key)))
      const aborts: AbortController[] = []
      const all = wants.map(async ({ key, giveUp }, n) => {
        const abort = new AbortController()
        if (giveUp) aborts.push(abort)
        using _held = await lock.acquire(key, abort.signal)
        expect(inside[key]).toBe(0)
        inside[key] = 1
        await Promise.resolve()
        order[key]?.push(n)
        inside[key] = 0
      })
      for (const abort of aborts) abort.abort(new Error('given up'))
      for (const held of first) held[Symbol.dispose]()
      const outcomes = await Promise.allSettled(all)
      for (const [n, { giveUp }] of wants.entries()) expect(outcomes[n]?.status).toBe(giveUp ? 'rejected' : 'fulfilled')
      for (const done of Object.values(order)) expect(done).toEqual([...done].sort((x, y) => x - y))
      expect(lock.held()).toEqual([])
    }),
  )
})

test('releasing twice releases once', async () => {
  const lock = createKeyedLock()
  const held = await lock.acquire('a')
  held[Symbol.dispose]()
  const again = await lock.acquire('a')
  held[Symbol.dispose]()
  expect(lock.isHeld('a')).toBe(true)
  again[Symbol.dispose]()
  expect(lock.isHeld('a')).toBe(false)
})

test('slots are bounded, lent for a time, and given up in the queue', async () => {
  const clock = createManualClock()
  const slots = createStartSlots(() => 2, clock)
  const never = new AbortController().signal
  const held = [await slots.acquire(1_000, never), await slots.acquire(5_000, never)]
  const abort = new AbortController()
  const gone = slots.acquire(1_000, abort.signal).catch((error: unknown) => error)
  let third = false
  const waiting = slots.acquire(1_000, never).then((slot) => {
    third = true
    return slot
  })
  abort.abort(new Error('given up'))
  expect(await gone).toMatchObject({ message: 'given up' })
  await settled()
  expect(third).toBe(false)
  await clock.advance(1_000)
  expect(third).toBe(true)
  for (const slot of [...held, await waiting]) slot[Symbol.dispose]()
  const free = await Promise.all([slots.acquire(1_000, never), slots.acquire(1_000, never)])
  expect(free).toHaveLength(2)
})
