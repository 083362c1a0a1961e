import { chmodSync, existsSync, renameSync } from 'node:fs'
import { hasCode } from '../core/errors.ts'
import type { Clock, Logger } from '../core/ports.ts'
import { type Database, openConnection } from './database.ts'
import { migrate } from './migrations.ts'

interface Opened {
  readonly database: Database
  /** Where a damaged database was moved to, or null. */
  readonly setAside: string | null
}

const parts = ['', '-wal', '-shm']

const isDamaged = (error: unknown) => hasCode(error, 'STATE_DAMAGED')

function openSound(path: string, clock: Clock): Database | undefined {
  const database = openConnection(path)
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 8388608; PRAGMA cache_size = -2000')
    const problem = database.get('PRAGMA quick_check(1)')
    if (problem?.quick_check !== 'ok') {
      database[Symbol.dispose]()
      return undefined
    }
    migrate(database, clock)
    return database
  } catch (error) {
    database[Symbol.dispose]()
    if (isDamaged(error)) return undefined
    throw error
  }
}

function setAside(path: string, clock: Clock): string {
  const stamp = new Date(clock.now()).toISOString().replaceAll(':', '').replace(/\.\d+/, '')
  let target = `${path}.damaged-${stamp}`
  for (let n = 2; existsSync(target); n++) target = `${path}.damaged-${stamp}-${n}`
  for (const part of parts) if (existsSync(path + part)) renameSync(path + part, target + part)
  return target
}

/** Opens and migrates the database at `path`. A damaged one is moved beside it, whole, and an empty one takes its place. */
export function openDatabase({ path, clock, log }: { path: string; clock: Clock; log: Logger }): Opened {
  const sound = openSound(path, clock)
  if (sound) {
    chmodSync(path, 0o600)
    return { database: sound, setAside: null }
  }
  const moved = setAside(path, clock)
  log.error('the state database was damaged and has been set aside', { moved })
  const database = openSound(path, clock)
  if (!database) throw new Error(`A new database at ${path} is damaged at once: the disk cannot be trusted`)
  chmodSync(path, 0o600)
  return { database, setAside: moved }
}
