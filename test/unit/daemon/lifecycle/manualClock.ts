import type { Clock } from '../../../../daemon/core/ports.ts'

/** Lets everything that is ready to go on, go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

export interface ManualClock extends Clock {
  /** Moves time, timer by timer. */
  advance(ms: number): Promise<void>
  /** As if the process was killed: nothing of it fires any more. */
  die(): void
}

export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let now = start
  let timers: { readonly at: number; readonly fn: () => void }[] = []
  return {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn }
      timers.push(timer)
      return () => {
        timers = timers.filter((each) => each !== timer)
      }
    },
    async advance(ms) {
      const until = now + ms
      await settled()
      for (;;) {
        const next = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        timers = timers.filter((each) => each !== next)
        now = Math.max(now, next.at)
        next.fn()
        await settled()
      }
      now = Math.max(now, until)
    },
    die() {
      timers = []
    },
  }
}
