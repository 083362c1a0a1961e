import { closeSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { LogEntry } from '../sandboxDriver.ts'
import { runFile } from './sandboxRecord.ts'

export interface LogWriter {
  /** Bytes as they came; lines are found here, each with the time at which its first byte came. */
  write(chunk: Buffer): void
  /** Writes what is left of an unfinished line. */
  end(): void
}

/** A line longer than this is kept in parts. */
const maxLineBytes = 256 * 1024

/**
 * JSON lines in two files that take turns, so that at least half of `maxBytes` and never more than all of it is kept. A disk that is full loses lines and
 * never stops the package.
 */
export function createLogWriter(directory: string, maxBytes: number, now: () => number = Date.now): LogWriter {
  const path = join(directory, runFile.log)
  const half = Math.max(2048, Math.floor(maxBytes / 2))
  const longest = Math.min(maxLineBytes, Math.floor(half / 2))
  let file = openSync(path, 'a', 0o600)
  let written = 0
  let parts: Buffer[] = []
  let held = 0
  let since = now()

  const append = (line: Buffer) => {
    const entry: LogEntry = { time: new Date(since).toISOString(), stream: 'stderr', line: line.toString().replace(/\r$/, '') }
    const text = Buffer.from(`${JSON.stringify(entry)}\n`)
    try {
      if (written > 0 && written + text.length > half) rotate()
      writeSync(file, text)
      written += text.length
    } catch (error) {
      // The package's output must be drained whatever becomes of the log; what is lost is the line.
      process.emitWarning(`a log line was lost: ${String(error)}`)
    }
  }
  const rotate = () => {
    renameSync(path, join(directory, runFile.olderLog))
    const next = openSync(path, 'a', 0o600)
    closeSync(file)
    file = next
    written = 0
  }
  const hold = (part: Buffer) => {
    if (part.length === 0) return
    if (held === 0) since = now()
    parts.push(part)
    held += part.length
  }
  const flush = () => {
    append(Buffer.concat(parts, held))
    parts = []
    held = 0
  }

  return {
    write(chunk) {
      let rest = chunk
      for (;;) {
        const newline = rest.indexOf(0x0a)
        const end = newline === -1 ? rest.length : newline
        const room = longest - held
        if (end > room) {
          hold(rest.subarray(0, room))
          flush()
          rest = rest.subarray(room)
          continue
        }
        if (held === 0) since = now()
        hold(rest.subarray(0, end))
        if (newline === -1) return
        flush()
        rest = rest.subarray(newline + 1)
      }
    },
    end() {
      if (held > 0) flush()
      closeSync(file)
    },
  }
}
