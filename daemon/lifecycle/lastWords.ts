import type { LogEntry, SandboxDriver, SandboxHandle } from '../../sandbox/sandboxDriver.ts'
import type { Clock, Logger } from '../core/ports.ts'
import type { Redactor } from '../core/redactor.ts'
import { withDeadline } from './withDeadline.ts'

const keptLines = 200
const patienceMs = 2_000

/** The last log lines of sandboxes that are gone, one lot a package, for `pkg logs` and for errors. */
export interface LastWords {
  /** Reads them off a sandbox that is about to be removed. Never rejects: a log that cannot be read must not keep a failure from being told. */
  capture(packageId: string, handle: SandboxHandle): Promise<readonly LogEntry[]>
  get(packageId: string): readonly LogEntry[]
  forget(packageId: string): void
}

export function createLastWords({ driver, clock, log }: { driver: SandboxDriver; clock: Clock; log: Logger }): LastWords {
  const kept = new Map<string, readonly LogEntry[]>()
  return {
    async capture(packageId, handle) {
      const given = new AbortController()
      try {
        const lines = await withDeadline(
          { clock, ms: patienceMs, signal: given.signal, expired: () => new Error('The log did not come in time') },
          (signal) => Array.fromAsync(driver.logs(handle, { follow: false, tail: keptLines, signal })),
        )
        if (lines.length > 0) kept.set(packageId, lines)
        return lines
      } catch (error) {
        log.debug('the last log lines could not be read', { package: packageId, error: String(error) })
        return []
      }
    },
    get: (packageId) => kept.get(packageId) ?? [],
    forget: (packageId) => kept.delete(packageId),
  }
}

const quotedLines = 5
const quotedBytes = 600

/** The last lines as one line for a hint, without the package's secrets; undefined when it said nothing. */
export function quoteLastWords(lines: readonly LogEntry[], redactor: Redactor): string | undefined {
  const said = lines
    .filter((entry) => entry.line.trim() !== '')
    .slice(-quotedLines)
    .map((entry) => entry.line.trim())
    .join(' | ')
  const quote = redactor.text(said)
  return quote === '' ? undefined : `it said: ${quote.length > quotedBytes ? `…${quote.slice(-quotedBytes)}` : quote}`
}
