import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideRestart, type RestartFacts, toBackoff } from '../../../../daemon/lifecycle/restartPolicy.ts'

const now = 1_000_000_000
const at = '2026-01-01T00:00:00.000Z'
const facts = (over: Partial<RestartFacts>): RestartFacts => ({
  policy: { policy: 'on-failure', maxRetries: 5, windowMs: 600_000 },
  desired: 'running',
  wasReady: true,
  end: { kind: 'exited', exit: { kind: 'exit', code: 1, at } },
  restarts: [],
  ranMs: 1_000,
  stableMs: 60_000,
  ...over,
})
const policy = (name: 'no' | 'on-failure' | 'always') => ({ policy: name, maxRetries: 5, windowMs: 600_000 })
const clean = { kind: 'exited', exit: { kind: 'exit', code: 0, at } } as const
const oom = { kind: 'exited', exit: { kind: 'oom', at } } as const

describe('decideRestart', () => {
  test.each<[string, Partial<RestartFacts>, object]>([
    ['a failure is restarted', {}, { kind: 'restart', afterMs: 150, restarts: [now] }],
    ['a kill for memory too', { end: oom }, { kind: 'restart' }],
    ['a removed sandbox too', { end: { kind: 'vanished' } }, { kind: 'restart' }],
    ['an unhealthy one too', { end: { kind: 'unhealthy' } }, { kind: 'restart' }],
    ['a clean end is not', { end: clean }, { kind: 'end', reason: 'exited' }],
    ['unless always', { end: clean, policy: policy('always') }, { kind: 'restart' }],
    ['policy no', { policy: policy('no') }, { kind: 'giveUp', reason: 'exited' }],
    ['policy no and a clean end', { policy: policy('no'), end: clean }, { kind: 'end', reason: 'exited' }],
    ['a manual stop stays', { desired: 'stopped' }, { kind: 'end', reason: 'stopped' }],
    ['what was never ready is not', { wasReady: false, end: { kind: 'start-failed' } }, { kind: 'giveUp', reason: 'start-failed' }],
    ['the window is full', { restarts: [1, 2, 3, 4, 5].map((n) => now - n) }, { kind: 'giveUp', reason: 'crash-loop' }],
    [
      'what is older than the window does not count',
      { restarts: [1, 2, 3, 4, 5].map((n) => now - 600_000 - n) },
      { kind: 'restart', restarts: [now] },
    ],
    [
      'a stable run clears the count',
      { restarts: [1, 2, 3, 4, 5].map((n) => now - n), ranMs: 60_000 },
      { kind: 'restart', restarts: [now] },
    ],
    ['the third waits longer', { restarts: [now - 2, now - 1] }, { kind: 'restart', afterMs: 1350, restarts: [now - 2, now - 1, now] }],
  ])('%s', (_name, over, verdict) => {
    expect(decideRestart(facts(over), now, () => 0.5)).toMatchObject(verdict)
  })
})

test('the first restart comes within a quarter of a second, none later than a minute, and never less than half its base', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.double({ min: 0, max: 0.999, noNaN: true }), (n, random) => {
      const ms = toBackoff(n, () => random)
      expect(ms).toBeLessThanOrEqual(60_000)
      expect(ms).toBeGreaterThanOrEqual(Math.min(30_000, 100 * 3 ** n) - 1)
      if (n === 0) expect(ms).toBeLessThanOrEqual(250)
    }),
  )
})
