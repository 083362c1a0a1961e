import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type DaemonFile, findDaemon } from '../daemon/core/daemonFile.ts'
import { fromErrorRecord } from '../daemon/core/errorRecord.ts'
import { PkgdError } from '../daemon/core/errors.ts'
import type { Home } from '../daemon/core/home.ts'
import { processStartedAt } from '../daemon/core/processes.ts'

/** What the daemon writes, one JSON line, on the descriptor that `PKGD_READY_FD` names. */
type Readiness = { ready: true } | { ready: false; code: string; message: string; hint?: string }

/** The bin, which knows how Node is to be run for a daemon; it becomes that process. */
const bin = join(import.meta.dirname, '..', 'bin', 'pkgd')

/** Starts the daemon in a session of its own and resolves when it answers. Errors: those of its start, with their own codes. */
export async function startDaemon(home: Home): Promise<DaemonFile> {
  if (!existsSync(home.root))
    throw new PkgdError('CONFIG_INVALID', `PKGD_HOME ${home.root} cannot be made`, {
      hint: 'set PKGD_HOME to a folder that you may write to',
    })
  const log = openSync(home.log, 'a', 0o600)
  const child = spawn(bin, [], {
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
    env: { ...process.env, PKGD_HOME: home.root, PKGD_READY_FD: '3' },
    cwd: home.root,
  })
  closeSync(log)
  const readiness = await readLine(child.stdio[3] as NodeJS.ReadableStream, child)
  child.unref()
  if (!readiness.ready) {
    if (readiness.code === 'DAEMON_ALREADY_RUNNING') {
      const running = findDaemon(home)
      if (running) return running
    }
    throw fromErrorRecord({ hint: `its log is ${home.log}`, ...readiness })
  }
  const found = findDaemon(home)
  if (!found) throw new PkgdError('DAEMON_UNREACHABLE', 'The daemon ended right after it was ready', { hint: `its log is ${home.log}` })
  return found
}

/** How often the end of a process is looked for: no event tells it of a process that is not a child. */
const pollMs = 20

/** Asks the daemon to end and waits until its process is gone; resolves with its pid, or null when none was running. */
export async function stopDaemon(home: Home, signal: AbortSignal): Promise<number | null> {
  const found = findDaemon(home)
  if (!found) return null
  const startedAt = processStartedAt(found.pid)
  process.kill(found.pid, 'SIGTERM')
  while (processStartedAt(found.pid) === startedAt) await delay(pollMs, undefined, { signal })
  return found.pid
}

function readLine(stream: NodeJS.ReadableStream, child: ReturnType<typeof spawn>): Promise<Readiness> {
  const { promise, resolve, reject } = Promise.withResolvers<Readiness>()
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk) => {
    text += chunk
  })
  stream.on('end', () => {
    try {
      resolve(JSON.parse(text) as Readiness)
    } catch (error) {
      reject(
        new PkgdError('DAEMON_UNREACHABLE', 'The daemon ended before it was ready', {
          cause: error,
          hint: 'pkgd runs it in the foreground and shows why',
        }),
      )
    }
  })
  child.once('error', (error) =>
    reject(new PkgdError('DAEMON_UNREACHABLE', `The daemon cannot be started: ${error.message}`, { cause: error })),
  )
  return promise
}
