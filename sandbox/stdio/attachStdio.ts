import { type Duplex, Transform, type TransformCallback } from 'node:stream'
import { joinStreams } from './joinStreams.ts'

const headerBytes = 8
const stdout = 1

/**
 * The channel over an engine's attach stream (hijacked connection, no TTY): what is written goes to the package's stdin as it is, of what is read the
 * stdout part is kept. The engine frames its output with 8 bytes: the stream's number, three zeros, the payload's length as 32 bits, big-endian. It
 * ends when the package does, or when the engine goes away; destroying it leaves the package running.
 */
export function attachStdio(stream: Duplex): Duplex {
  const output = createDemultiplexer()
  stream.pipe(output)
  stream.on('close', () => output.end())
  return joinStreams(stream, output)
}

/** Strips the engine's frames and keeps the payload of stdout; frames may be split anywhere. */
function createDemultiplexer(): Transform {
  const header = Buffer.alloc(headerBytes)
  let headerFilled = 0
  let payloadLeft = 0
  let isStdout = false

  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      for (let at = 0; at < chunk.length; ) {
        if (payloadLeft === 0) {
          const copied = chunk.copy(header, headerFilled, at, at + headerBytes - headerFilled)
          headerFilled += copied
          at += copied
          if (headerFilled < headerBytes) break
          if ((header[0] ?? 0) > 2 || header[1] !== 0 || header[2] !== 0 || header[3] !== 0) {
            done(new Error('The engine sent something else than a multiplexed stream'))
            return
          }
          headerFilled = 0
          isStdout = header[0] === stdout
          payloadLeft = header.readUInt32BE(4)
        } else {
          const end = Math.min(chunk.length, at + payloadLeft)
          if (isStdout) this.push(chunk.subarray(at, end))
          payloadLeft -= end - at
          at = end
        }
      }
      done()
    },
  })
}
