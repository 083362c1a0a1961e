import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLogEntries, readLogFrames } from '../../../../sandbox/docker/logFrames.ts'
import type { LogEntry } from '../../../../sandbox/sandboxDriver.ts'

const time = '2026-01-02T03:04:05.000000006Z'

function toFrame(stream: 'stdout' | 'stderr', text: string): Buffer {
  const payload = Buffer.from(`${time} ${text}`)
  const header = Buffer.alloc(8)
  header[0] = stream === 'stderr' ? 2 : 1
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

async function read(chunks: readonly Buffer[]): Promise<LogEntry[]> {
  async function* source() {
    yield* chunks
  }
  const entries: LogEntry[] = []
  for await (const entry of readLogEntries(readLogFrames(source()))) entries.push(entry)
  return entries
}

describe('the log of an engine', () => {
  it('is lines with their stream and time', async () => {
    expect(await read([toFrame('stderr', 'one two\n'), toFrame('stdout', '\n'), toFrame('stderr', 'three\r\n')])).toEqual([
      { time, stream: 'stderr', line: 'one two' },
      { time, stream: 'stdout', line: '' },
      { time, stream: 'stderr', line: 'three' },
    ])
  })

  it('has a line that came in parts whole, with another stream between them', async () => {
    const chunks = [toFrame('stderr', 'be'), toFrame('stdout', 'other\n'), toFrame('stderr', 'gin'), toFrame('stderr', 'ning\n')]
    expect((await read(chunks)).map(({ stream, line }) => [stream, line])).toEqual([
      ['stdout', 'other'],
      ['stderr', 'beginning'],
    ])
  })

  it('has what a program said before it ended in the middle of a line', async () => {
    expect((await read([toFrame('stderr', 'last words')])).map(({ line }) => line)).toEqual(['last words'])
  })

  it('is the same however the bytes are cut', async () => {
    const line = fc.tuple(
      fc.constantFrom('stdout', 'stderr') as fc.Arbitrary<'stdout' | 'stderr'>,
      fc.string({ maxLength: 40, unit: 'grapheme' }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.infiniteStream(fc.integer({ min: 1, max: 30 })), async (lines, sizes) => {
        const texts = lines.map(([stream, text]) => [stream, text.replaceAll(/[\r\n]/g, ' ')] as const)
        const bytes = Buffer.concat(texts.map(([stream, text]) => toFrame(stream, `${text}\n`)))
        const chunks: Buffer[] = []
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value ?? 1
          chunks.push(bytes.subarray(at, at + size))
          at += size
        }
        expect((await read(chunks)).map(({ stream, line: text }) => [stream, text])).toEqual(texts.map((pair) => [...pair]))
      }),
    )
  })
})
