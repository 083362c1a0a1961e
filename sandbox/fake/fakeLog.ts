import type { Clock } from '../../daemon/core/ports.ts'
import type { LogEntry, LogQuery } from '../sandboxDriver.ts'

/** The last lines of a program, bounded in bytes. */
export interface FakeLog {
  append(stream: LogEntry['stream'], line: string): void
  /** Ends those who follow. */
  end(): void
  read(query: LogQuery): AsyncIterable<LogEntry>
  readonly text: string
}

export function createFakeLog(clock: Clock, maxBytes: number): FakeLog {
  const kept: LogEntry[] = []
  let bytes = 0
  let dropped = 0
  let ended = false
  let waiting: (() => void)[] = []
  const wake = () => {
    const woken = waiting
    waiting = []
    for (const each of woken) each()
  }

  return {
    append(stream, line) {
      kept.push({ time: new Date(clock.now()).toISOString(), stream, line })
      bytes += Buffer.byteLength(line) + 1
      while (bytes > maxBytes && kept.length > 1) {
        bytes -= Buffer.byteLength(kept.shift()?.line ?? '') + 1
        dropped++
      }
      wake()
    },
    end() {
      ended = true
      wake()
    },
    async *read({ follow, tail, signal }) {
      let next = dropped + (tail === undefined ? 0 : Math.max(0, kept.length - tail))
      while (!signal.aborted) {
        next = Math.max(next, dropped)
        const entry = kept[next - dropped]
        if (entry) {
          next++
          yield entry
          continue
        }
        if (!follow || ended) return
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
    get text() {
      return kept.map((entry) => entry.line).join('\n')
    },
  }
}
