import { Duplex, type Readable, type Writable } from 'node:stream'

type Done = (error?: Error | null) => void

/**
 * One duplex stream of two one-way streams, without a copy and with the backpressure of both. `readable`'s end is the end of the whole; destroying
 * the whole destroys both; an error of either destroys the whole with it.
 */
export function joinStreams(writable: Writable, readable: Readable): Duplex {
  const whole = new Duplex({
    allowHalfOpen: false,
    write(chunk: Buffer, _encoding, done: Done) {
      writable.write(chunk, done)
    },
    writev(chunks: { chunk: Buffer }[], done: Done) {
      writable.cork()
      const last = chunks.length - 1
      chunks.forEach(({ chunk }, index) => {
        writable.write(chunk, index === last ? done : undefined)
      })
      writable.uncork()
    },
    final(done: Done) {
      writable.end(done)
    },
    read() {
      readable.resume()
    },
    destroy(error, done: Done) {
      writable.destroy()
      readable.destroy()
      done(error)
    },
  })
  readable.pause()
  readable.on('data', (chunk: Buffer) => {
    if (!whole.push(chunk)) readable.pause()
  })
  readable.on('end', () => whole.push(null))
  readable.on('close', () => {
    if (!readable.readableEnded) whole.destroy()
  })
  for (const side of [writable, readable]) side.on('error', (error) => whole.destroy(error))
  return whole
}
