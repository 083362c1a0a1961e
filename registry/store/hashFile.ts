import { createHash, hash } from 'node:crypto'
import { closeSync, constants, createReadStream, openSync, readSync } from 'node:fs'

const streamedFrom = 1024 * 1024
const buffer = Buffer.allocUnsafeSlow(streamedFrom)

/** sha512 hex of a file's content. Small files are read in one synchronous go, which is what makes hashing a whole tree fast; large ones are streamed. A link is never followed. */
export async function hashFile(path: string): Promise<string> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const content = readWhole(file)
    if (content) return hash('sha512', content, 'hex')
    const whole = createHash('sha512')
    for await (const chunk of createReadStream(path, { fd: file, autoClose: false, start: 0, highWaterMark: streamedFrom }))
      whole.update(chunk)
    return whole.digest('hex')
  } finally {
    closeSync(file)
  }
}

/** The content, in a buffer that the next call overwrites, or undefined where it does not fit. */
function readWhole(file: number): Buffer | undefined {
  let length = 0
  for (;;) {
    const read = readSync(file, buffer, length, buffer.length - length, null)
    if (read === 0) return buffer.subarray(0, length)
    length += read
    if (length === buffer.length) return undefined
  }
}

/** sha512 hex of a text, for what is no file: a link's target. */
export function hashText(text: string): string {
  return hash('sha512', text, 'hex')
}
