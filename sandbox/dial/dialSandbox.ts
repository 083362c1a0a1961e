import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { connect, Socket } from 'node:net'
import { extname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { PkgdError } from '../../daemon/core/errors.ts'

const dialer = join(import.meta.dirname, `dialer${extname(import.meta.filename)}`)

/**
 * A connection to a port inside the network namespace of a process. A short-lived process enters the namespace, connects, and hands the connected
 * socket over: what comes back is the kernel's own connection, with nobody in between. Errors: NOT_RUNNING when nothing listens.
 */
export function dialPort(pid: number, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const child = spawn('nsenter', [`--net=/proc/${pid}/ns/net`, process.execPath, dialer, String(port)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { PATH: `${process.env.PATH ?? ''}:/usr/bin:/bin` },
    })
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < 4096) said += text
    })
    child.once('error', reject)
    child.once('message', (_message, socket) => {
      if (socket instanceof Socket) resolve(socket)
      child.disconnect()
    })
    child.once('close', () => {
      reject(new PkgdError('NOT_RUNNING', `Nothing listens on port ${port} of the sandbox`, { cause: new Error(said.trim()) }))
    })
  })
}

/** Opens a place, not what it holds (linux/fcntl.h); Node does not name it. */
const O_PATH = 0o10000000

/**
 * A connection to a Unix socket of the sandbox's. The package writes the directories on the way, so each step is taken by itself and no link is followed: the
 * path can lead nowhere but into the sandbox. Errors: NOT_RUNNING.
 */
export async function dialSocket(pid: number, path: string): Promise<Duplex> {
  const place = await openInside(pid, path)
  try {
    return await new Promise<Duplex>((resolve, reject) => {
      const socket = connect({ path: `/proc/self/fd/${place.fd}` })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(socket)
      })
    })
  } catch (error) {
    throw new PkgdError('NOT_RUNNING', `Nothing listens on ${path} in the sandbox`, { cause: error })
  } finally {
    await place.close()
  }
}

async function openInside(pid: number, path: string): Promise<FileHandle> {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.')
  if (!path.startsWith('/') || steps.length === 0 || steps.includes('..')) {
    throw new PkgdError('USAGE', `${path} is no plain absolute path of a socket in the sandbox`)
  }
  let at = await open(`/proc/${pid}/root`, O_PATH | constants.O_DIRECTORY)
  try {
    for (const [index, step] of steps.entries()) {
      const last = index === steps.length - 1
      const next = await open(`/proc/self/fd/${at.fd}/${step}`, O_PATH | constants.O_NOFOLLOW | (last ? 0 : constants.O_DIRECTORY))
      await at.close()
      at = next
    }
    if (!(await at.stat()).isSocket()) throw new Error('not a socket')
    return at
  } catch (error) {
    await at.close()
    throw new PkgdError('NOT_RUNNING', `Nothing listens on ${path} in the sandbox`, { cause: error })
  }
}
