import { close, constants, open } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { joinStreams } from './joinStreams.ts'

/**
 * The channel to a package whose box directory is at `directory`. Writing fills the package's stdin, reading drains its stdout; what a full pipe
 * cannot take waits, in both directions. Both pipes are opened read-write, as the package itself does, so that destroying the channel or dying is
 * neither EOF nor EPIPE to the package: the next one who opens the pipes goes on where this one stopped. For the same reason the package's
 * end is not seen here: the driver's events tell it. Errors: ENOENT and ENXIO of the system when the pipes are not there.
 */
export async function openNamedPipes(directory: string): Promise<Duplex> {
  const flags = constants.O_RDWR | constants.O_NONBLOCK
  const input = await promisify(open)(join(directory, 'in'), flags)
  const output = await promisify(open)(join(directory, 'out'), flags).catch(async (error: unknown) => {
    await promisify(close)(input)
    throw error
  })
  const toPackage = new Socket({ fd: input, readable: false, writable: true })
  const fromPackage = new Socket({ fd: output, readable: true, writable: false })
  return joinStreams(toPackage, fromPackage)
}
