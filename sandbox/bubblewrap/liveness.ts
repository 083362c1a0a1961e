import { execFile } from 'node:child_process'
import { close, constants, open } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasCode } from '../../daemon/core/errors.ts'
import { runFile } from './sandboxRecord.ts'

/**
 * A named pipe whose one writer is the supervisor: the kernel closes it with the supervisor, however that ends, and every reader is told at once. No
 * polling, and no number of a process that may be somebody else's by now.
 */
export async function createLiveness(directory: string): Promise<void> {
  await promisify(execFile)('mkfifo', ['-m', '600', join(directory, runFile.alive)])
}

/** Opens the writer's side, which then is this process's for life. Both directions, so that opening does not wait for a reader. */
export function holdLiveness(directory: string): Promise<number> {
  return promisify(open)(join(directory, runFile.alive), constants.O_RDWR)
}

export interface LivenessWatch {
  /** Resolves when nobody holds the pipe any more; at once if nobody does. Never after `close`. */
  readonly ended: Promise<void>
  close(): void
}

/** `isHeld` is asked after the pipe was opened: of a pipe whose writer was gone before, the kernel tells no end. */
export async function watchLiveness(directory: string, isHeld: () => Promise<boolean>): Promise<LivenessWatch> {
  const file = await openReader(directory)
  if (file === undefined) return { ended: Promise.resolve(), close: () => undefined }
  if (!(await isHeld())) {
    await promisify(close)(file)
    return { ended: Promise.resolve(), close: () => undefined }
  }
  const socket = new Socket({ fd: file, readable: true, writable: false })
  // Watching is no reason for this process to go on living.
  socket.unref()
  let watching = true
  const ended = new Promise<void>((resolve) => {
    const settle = () => watching && resolve()
    for (const event of ['error', 'end', 'close']) socket.on(event, settle)
  })
  socket.resume()
  return {
    ended,
    close() {
      watching = false
      socket.destroy()
    },
  }
}

async function openReader(directory: string): Promise<number | undefined> {
  try {
    return await promisify(open)(join(directory, runFile.alive), constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
