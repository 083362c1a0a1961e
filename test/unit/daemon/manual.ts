import type { Clock, Logger } from '../../../daemon/core/ports.ts'

/** A clock that stands still until it is told to go on; what falls due in between is called. */
export function createManualClock(start = Date.UTC(2026, 0, 1)): Clock & { advance(ms: number): void } {
  let now = start
  const due = new Set<{ at: number; fn: () => void }>()
  return {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn }
      due.add(timer)
      return () => void due.delete(timer)
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const next = [...due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        due.delete(next)
        now = Math.max(now, next.at)
        next.fn()
      }
      now = end
    },
  }
}

/** Keeps what is logged, a line each. */
export function createMemoryLog(): Logger & { readonly lines: string[] } {
  const lines: string[] = []
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields ?? {}, (_, value) => (value instanceof Error ? value.message : value))}`)
  }
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => log }
  return { ...log, lines }
}
