import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attachStdio } from '../../../../sandbox/stdio/attachStdio.ts'

/** A frame as the engine writes it. */
function frame(stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

test('stdout comes out whole, whatever the frames and however they are split; stderr does not', async () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 200 })), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(frames, fc.integer({ min: 1, max: 40 }), async (list, size) => {
      const [near, engine] = duplexPair()
      const channel = attachStdio(near)
      const reading = readAll(channel)
      const bytes = Buffer.concat(list.map(([stream, payload]) => frame(stream, Buffer.from(payload))))
      for (let at = 0; at < bytes.length; at += size) engine.write(bytes.subarray(at, at + size))
      engine.end()
      const stdout = list.filter(([stream]) => stream === 1).map(([, payload]) => payload)
      expect((await reading).equals(Buffer.concat(stdout))).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('what is written goes to the package as it is', async () => {
  const [near, engine] = duplexPair()
  const channel = attachStdio(near)
  channel.write('one\n')
  channel.write('two\n')
  let received = ''
  for await (const chunk of engine) {
    received += chunk
    if (received.length >= 8) break
  }
  expect(received).toBe('one\ntwo\n')
})

test('a stream that is not multiplexed is an error, not garbage', async () => {
  const [near, engine] = duplexPair()
  const channel = attachStdio(near)
  engine.write('{"jsonrpc":"2.0"}\n')
  channel.resume()
  const [error] = await once(channel, 'error')
  expect(error.message).toContain('multiplexed')
})

test('the engine going away is the end of the channel, after all that had arrived', async () => {
  const [near, engine] = duplexPair()
  const channel = attachStdio(near)
  engine.write(Buffer.concat([frame(1, Buffer.from('last words')), frame(1, Buffer.from('cut off')).subarray(0, 11)]))
  engine.end()
  expect((await readAll(channel)).toString()).toBe('last wordscut')
})

test('destroying it destroys the connection and nothing else is sent', async () => {
  const [near] = duplexPair()
  const channel = attachStdio(near)
  channel.destroy()
  await once(near, 'close')
  expect(near.writableEnded).toBe(false)
})
