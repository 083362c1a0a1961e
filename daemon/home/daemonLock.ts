import { DatabaseSync } from 'node:sqlite'
import { readDaemonFile } from '../core/daemonFile.ts'
import { PkgdError } from '../core/errors.ts'
import type { Home } from '../core/home.ts'

const sqliteBusy = 5
/** How long a daemon that was killed this moment may hold it: until the kernel has torn it down. */
const patienceMs = 500

/**
 * Holds the home for this process. It is the lock of an open SQLite file: the kernel lets go of it however the process ends, so it cannot go stale.
 * Errors: DAEMON_ALREADY_RUNNING, naming who holds it.
 */
export function acquireDaemonLock(home: Home): Disposable {
  const database = new DatabaseSync(home.lock, { timeout: patienceMs })
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: unknown }).errcode !== sqliteBusy) throw error
    const holder = readDaemonFile(home)
    throw new PkgdError('DAEMON_ALREADY_RUNNING', `A daemon is running on ${home.root} already${holder ? `, pid ${holder.pid}` : ''}`, {
      hint: 'use it, or stop it: pkg daemon stop; another daemon needs another PKGD_HOME',
      cause: error,
    })
  }
  return { [Symbol.dispose]: () => database.close() }
}
