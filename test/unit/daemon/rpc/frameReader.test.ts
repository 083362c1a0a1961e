import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFrameBudget } from '../../../../daemon/rpc/frameBudget.ts'
import { createFrameReader, type SkippedFrame } from '../../../../daemon/rpc/frameReader.ts'

function read(pieces: Iterable<Buffer>, { max = 1_000_000, budget = createFrameBudget(10_000_000) } = {}) {
  const frames: string[] = []
  const skipped: SkippedFrame[] = []
  const reader = createFrameReader({
    maxFrameBytes: max,
    budget,
    onFrame: (line) => frames.push(line.toString('latin1')),
    onSkipped: (frame) => skipped.push(frame),
  })
  for (const piece of pieces) reader.push(piece)
  return { frames, skipped, reader, budget }
}

function* cut(bytes: Buffer, sizes: readonly number[]) {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

test('any lines come out as they were, however the bytes are split', () => {
  const line = fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes).toString('latin1').replaceAll('\n', ''))
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''), 'latin1')
      expect(read(cut(bytes, sizes)).frames).toEqual(lines)
    }),
  )
})

test('a frame over the limit is skipped, its id known, and the frames around it arrive', () => {
  const large = JSON.stringify({ jsonrpc: '2.0', result: { text: 'x'.repeat(300_000) }, id: 'call-7' })
  const { frames, skipped, budget } = read(cut(Buffer.from(`before\n${large}\nafter\n`), [65_536]), { max: 200_000 })
  expect(frames).toEqual(['before', 'after'])
  expect(skipped).toEqual([{ envelope: expect.objectContaining({ id: 'call-7', hasMethod: false }), bytes: large.length, over: 'limit' }])
  expect(budget.used).toBe(0)
})

test('a frame of exactly the limit is kept, one byte more is not', () => {
  for (const pieces of [[1000], [7]]) {
    expect(read(cut(Buffer.from(`${'x'.repeat(100)}\n`), pieces), { max: 100 }).frames).toHaveLength(1)
    expect(read(cut(Buffer.from(`${'x'.repeat(101)}\n`), pieces), { max: 100 })).toMatchObject({ frames: [], skipped: [{ bytes: 101 }] })
  }
})

test('a frame without an end holds no more than the limit, and a closed reader holds nothing', () => {
  const budget = createFrameBudget(10_000_000)
  const { reader } = read(cut(Buffer.alloc(500_000, 'x'), [65_536]), { max: 1_000_000, budget })
  expect(budget.used).toBe(500_000)
  reader.push(Buffer.alloc(600_000, 'x'))
  expect(budget.used).toBe(0)
  const other = read([Buffer.alloc(500_000, 'x')], { budget })
  other.reader.close()
  expect(budget.used).toBe(0)
})

test('what is over the budget of all peers is skipped; small frames always pass', () => {
  const budget = createFrameBudget(300_000)
  const hog = read([Buffer.alloc(250_000, 'x')], { budget })
  const other = read(cut(Buffer.from(`${'y'.repeat(100_000)}\n${'z'.repeat(60_000)}\n`), [50_000]), { budget })
  expect(other.frames.map((frame) => frame.length)).toEqual([60_000])
  expect(other.skipped).toMatchObject([{ over: 'budget', bytes: 100_000 }])
  hog.reader.push(Buffer.from('\n'))
  expect(hog.frames).toHaveLength(1)
  expect(budget.used).toBe(0)
})

test('a large frame that comes byte by byte costs memory for its bytes, not for its pieces', () => {
  const text = Buffer.alloc(1_500_000, 'abcdefghijk')
  const before = process.memoryUsage().heapUsed
  const { frames, reader } = read([], { max: 2_000_000 })
  for (const byte of text) reader.push(Buffer.from([byte]))
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60_000_000)
  reader.push(Buffer.from('\n'))
  expect(frames[0] === text.toString()).toBe(true)
})
