import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { PkgdError } from '../core/errors.ts'

export type Row = Record<string, unknown>

/** One connection, its prepared statements, and transactions that nest by joining the outer one. */
export interface Database extends Disposable {
  run(sql: string, ...values: SQLInputValue[]): { readonly changes: number; readonly lastInsertRowid: number | bigint }
  get(sql: string, ...values: SQLInputValue[]): Row | undefined
  all(sql: string, ...values: SQLInputValue[]): Row[]
  exec(sql: string): void
  /** All or nothing. `durable` waits for the disk before it returns. */
  transaction<T>(body: () => T, options?: { durable?: boolean }): T
}

const sqliteFull = 13
const damagedCodes: ReadonlySet<number> = new Set([11 /* SQLITE_CORRUPT */, 26 /* SQLITE_NOTADB */])

const primaryCode = (error: unknown): number | undefined => {
  const code = error instanceof Error ? (error as { errcode?: unknown }).errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

/** Whether SQLite says that the file is no (longer a) database. */
export const isDamage = (error: unknown): boolean => damagedCodes.has(primaryCode(error) ?? -1)

const toCoded = (error: unknown): unknown => {
  if (primaryCode(error) === sqliteFull) {
    return new PkgdError('DISK_FULL', 'The state database cannot grow: no space is left on its disk', {
      cause: error,
      hint: 'free some space and try again',
    })
  }
  if (isDamage(error)) {
    return new PkgdError('STATE_DAMAGED', 'The state database is damaged', {
      cause: error,
      hint: 'restart the daemon: it sets the damaged file aside',
    })
  }
  return error
}

/** Opens `path` for one writer. In WAL a commit survives any process's death; only a durable one survives a power cut. */
export function openConnection(path: string): Database {
  const connection = new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: true })
  const statements = new Map<string, StatementSync>()
  const coded = <T>(body: () => T): T => {
    try {
      return body()
    } catch (error) {
      throw toCoded(error)
    }
  }
  const prepare = (sql: string) => {
    let statement = statements.get(sql)
    if (!statement) {
      statement = connection.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
  let depth = 0
  let durableInside = false

  const commitOuter = <T>(body: () => T, durable: boolean): T => {
    // The level cannot be changed inside a transaction, so it is chosen before and set back after.
    if (durable) connection.exec('PRAGMA synchronous = FULL')
    try {
      connection.exec('BEGIN IMMEDIATE')
      depth = 1
      durableInside = durable
      try {
        const result = body()
        connection.exec('COMMIT')
        // A part of it asked for the disk after it had begun without: a checkpoint syncs the log first.
        if (durableInside && !durable) connection.exec('PRAGMA wal_checkpoint(PASSIVE)')
        return result
      } catch (error) {
        // SQLite has already rolled back after some failures, such as a full disk.
        if (connection.isTransaction) connection.exec('ROLLBACK')
        throw error
      } finally {
        depth = 0
      }
    } finally {
      if (durable) connection.exec('PRAGMA synchronous = NORMAL')
    }
  }

  return {
    run: (sql, ...values) =>
      coded(() => {
        const { changes, lastInsertRowid } = prepare(sql).run(...values)
        return { changes: Number(changes), lastInsertRowid }
      }),
    get: (sql, ...values) => coded(() => prepare(sql).get(...values)),
    all: (sql, ...values) => coded(() => prepare(sql).all(...values)),
    exec: (sql) => coded(() => connection.exec(sql)),
    transaction(body, options = {}) {
      if (depth > 0) {
        durableInside ||= options.durable ?? false
        return body()
      }
      return coded(() => commitOuter(body, options.durable ?? false))
    },
    [Symbol.dispose]() {
      statements.clear()
      if (connection.isOpen) connection.close()
    },
  }
}
