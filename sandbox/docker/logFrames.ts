import type { LogEntry } from '../sandboxDriver.ts'

const headerBytes = 8

/** One message of the engine's multiplexed output. */
export interface LogFrame {
  readonly stream: 'stdout' | 'stderr'
  readonly payload: Buffer
}

/** Splits the engine's multiplexed stream: 8 bytes (the stream's number, three zeros, the payload's length as 32 bits, big-endian), then the payload. */
export async function* readLogFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<LogFrame> {
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    while (held.length >= headerBytes) {
      const end = headerBytes + held.readUInt32BE(4)
      if (held.length < end) break
      yield { stream: held[0] === 2 ? 'stderr' : 'stdout', payload: held.subarray(headerBytes, end) }
      held = held.subarray(end)
    }
  }
}

/**
 * Frames with timestamps to lines. The engine keeps a long line in parts, each a frame with a timestamp of its own and no newline but in the last;
 * such a line has the time of its first part.
 */
export async function* readLogEntries(frames: AsyncIterable<LogFrame>): AsyncGenerator<LogEntry> {
  const open = { stdout: null as OpenLine | null, stderr: null as OpenLine | null }
  for await (const { stream, payload } of frames) {
    const space = payload.indexOf(0x20)
    const time = payload.subarray(0, Math.max(0, space)).toString()
    const part = payload.subarray(space + 1)
    const ended = part.at(-1) === 0x0a
    const line = open[stream] ?? { time, parts: [] }
    line.parts.push(ended ? part.subarray(0, -1) : part)
    open[stream] = ended ? null : line
    if (ended) yield toEntry(stream, line)
  }
  // A program that ended in the middle of a line.
  for (const stream of ['stdout', 'stderr'] as const) {
    const line = open[stream]
    if (line) yield toEntry(stream, line)
  }
}

interface OpenLine {
  readonly time: string
  readonly parts: Buffer[]
}

const toEntry = (stream: LogEntry['stream'], { time, parts }: OpenLine): LogEntry => ({
  time,
  stream,
  line: Buffer.concat(parts).toString().replace(/\r$/, ''),
})
