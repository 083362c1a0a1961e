import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readLog } from '../../../../sandbox/bubblewrap/logReader.ts'
import { createLogWriter } from '../../../../sandbox/bubblewrap/logWriter.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pkgd-log-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const never = new Promise<void>(() => undefined)
const query = (changes: { follow?: boolean; tail?: number; signal?: AbortSignal } = {}) => ({
  follow: false,
  signal: new AbortController().signal,
  ...changes,
})

async function lines(changes: { tail?: number } = {}): Promise<string[]> {
  const all: string[] = []
  for await (const { line } of readLog(directory, query(changes), never)) all.push(line)
  return all
}

describe('a log', () => {
  it('gives back the lines, wherever the bytes were cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 20 }),
        fc.array(fc.nat({ max: 200 }), { maxLength: 20 }),
        async (texts, cuts) => {
          const clean = texts.map((text) => text.replaceAll(/[\r\n]/g, ''))
          await rm(directory, { recursive: true, force: true })
          directory = await mkdtemp(join(tmpdir(), 'pkgd-log-'))
          const writer = createLogWriter(directory, 1 << 20)
          const bytes = Buffer.from(clean.map((text) => `${text}\n`).join(''))
          let from = 0
          for (const cut of [...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
            writer.write(bytes.subarray(from, cut))
            from = cut
          }
          writer.end()
          expect(await lines()).toEqual(clean)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('keeps the newest, and never more than its bound', async () => {
    const writer = createLogWriter(directory, 64 * 1024)
    for (let number = 1; number <= 5000; number++) writer.write(Buffer.from(`line ${number}\n`))
    writer.end()
    const sizes = await Promise.all(['log', 'log.1'].map(async (name) => (await stat(join(directory, name))).size))
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(64 * 1024)
    const kept = await lines()
    expect(kept.at(-1)).toBe('line 5000')
    expect(kept.length).toBeGreaterThan(300)
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => `line ${5001 - kept.length + index}`))
    expect(await lines({ tail: 2 })).toEqual(['line 4999', 'line 5000'])
    expect(await lines({ tail: 0 })).toEqual([])
  })

  it('has the time of the first byte of a line', async () => {
    let now = 1000
    const writer = createLogWriter(directory, 1 << 20, () => now)
    writer.write(Buffer.from('half '))
    now = 5000
    writer.write(Buffer.from('a line\nnext\n'))
    writer.end()
    const entries = (await readFile(join(directory, 'log'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries).toEqual([
      { time: new Date(1000).toISOString(), stream: 'stderr', line: 'half a line' },
      { time: new Date(5000).toISOString(), stream: 'stderr', line: 'next' },
    ])
  })

  it('cuts a line without an end into parts, and loses none of it', async () => {
    const writer = createLogWriter(directory, 1 << 20)
    writer.write(Buffer.from('x'.repeat(600_000)))
    writer.end()
    const kept = await lines()
    expect(kept.length).toBeGreaterThan(1)
    expect(kept.join('')).toBe('x'.repeat(600_000))
  })

  it('is followed across a change of files, until its end', async () => {
    const writer = createLogWriter(directory, 8192)
    let finish = (): void => undefined
    const ended = new Promise<void>((resolve) => {
      finish = resolve
    })
    const seen: string[] = []
    const following = (async () => {
      for await (const { line } of readLog(directory, query({ follow: true }), ended)) {
        seen.push(line)
        const number = Number(line.split(' ')[1])
        if (number < 300) writer.write(Buffer.from(`line ${number + 1}\n`))
        else finish()
      }
    })()
    writer.write(Buffer.from('line 1\n'))
    await following
    writer.end()
    expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => `line ${index + 1}`))
  })

  it('has nothing to say before its first line', async () => {
    expect(await lines()).toEqual([])
    createLogWriter(directory, 4096).end()
    expect(await lines()).toEqual([])
  })
})
