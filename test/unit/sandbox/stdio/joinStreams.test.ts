import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { joinStreams } from '../../../../sandbox/stdio/joinStreams.ts'

test('it reads as far as its reader does: a full side is paused', async () => {
  const source = new PassThrough()
  const whole = joinStreams(new PassThrough(), source)
  let accepted = 0
  while (source.write(Buffer.alloc(16_384)) && accepted < 100) accepted++
  whole.read(0)
  await new Promise(setImmediate)
  expect(source.isPaused()).toBe(true)
  expect(whole.readableLength).toBeLessThan(1 << 18)
})

test('it writes as fast as the other side takes it', async () => {
  const taken: (() => void)[] = []
  const slow = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => taken.push(done) })
  const whole = joinStreams(slow, new PassThrough())
  while (whole.write(Buffer.alloc(65_536)));
  expect(whole.writableNeedDrain).toBe(true)
  const drained = once(whole, 'drain')
  const pump = setInterval(() => taken.shift()?.(), 1)
  await drained
  clearInterval(pump)
})

test('an error of either side is its own', async () => {
  for (const index of [0, 1]) {
    const sides = [new PassThrough(), new PassThrough()] as const
    const whole = joinStreams(...sides)
    sides[index]?.destroy(new Error(`side ${index}`))
    const [error] = await once(whole, 'error')
    expect(error.message).toBe(`side ${index}`)
    expect(sides.every((side) => side.destroyed)).toBe(true)
  }
})

test('destroying it destroys both sides', async () => {
  const sides = [new PassThrough(), new PassThrough()] as const
  const whole = joinStreams(...sides)
  whole.destroy()
  await once(whole, 'close')
  expect(sides.map((side) => side.destroyed)).toEqual([true, true])
})
