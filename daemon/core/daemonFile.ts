import { readFileSync } from 'node:fs'
import { hasCode } from './errors.ts'
import type { Home } from './home.ts'
import { processStartedAt } from './processes.ts'

/** `$PKGD_HOME/daemon.json`. */
export interface DaemonFile {
  readonly pid: number
  readonly url: string
  readonly version: string
  /** RFC 3339; when the process began, not when it was ready. */
  readonly started_at: string
}

/** `daemon.json` as it stands, or null where there is none that can be read. */
export function readDaemonFile(home: Home): DaemonFile | null {
  try {
    const file = JSON.parse(readFileSync(home.daemonFile, 'utf8')) as DaemonFile | null
    return Number.isInteger(file?.pid) ? file : null
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return null
    throw error
  }
}

/** How far two readings of one process's start may be apart, ms: the kernel counts it from a boot time in whole seconds. */
const sameStartMs = 2000

/** The running daemon of this home, or null. A file whose process is gone, or began at another time, is ignored. */
export function findDaemon(home: Home): DaemonFile | null {
  const file = readDaemonFile(home)
  const startedAt = file && processStartedAt(file.pid)
  return file && startedAt !== null && Math.abs(startedAt - Date.parse(file.started_at)) < sameStartMs ? file : null
}
