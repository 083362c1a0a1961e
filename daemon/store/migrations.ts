import { PkgdError } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'
import type { Database } from './database.ts'

interface Migration {
  readonly step: number
  readonly name: string
  readonly sql: string
}

/** Applied in order, each once. A step that was released is never edited: a change is a new step. */
const migrations: readonly Migration[] = [
  {
    step: 1,
    name: 'packages, sandboxes, jobs, events',
    sql: `
      CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE packages (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE uids (package_id TEXT PRIMARY KEY, uid INTEGER NOT NULL UNIQUE) STRICT;
      CREATE TABLE statuses (
        package_id TEXT PRIMARY KEY REFERENCES packages (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
        desired TEXT NOT NULL,
        status TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE sandboxes (
        package_id TEXT PRIMARY KEY REFERENCES packages (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
        record TEXT NOT NULL,
        session TEXT NOT NULL
      ) STRICT;
      CREATE TABLE catalogs (
        package_id TEXT NOT NULL REFERENCES packages (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
        tree TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (package_id, tree)
      ) STRICT;
      CREATE TABLE secrets (
        package_id TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (package_id, name)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE jobs (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, record TEXT NOT NULL) STRICT;
      CREATE INDEX jobs_unfinished ON jobs (state) WHERE state IN ('queued', 'running');
      CREATE TABLE sagas (job_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, type TEXT NOT NULL, event TEXT NOT NULL) STRICT;
      CREATE INDEX events_time ON events (time);
    `,
  },
  {
    step: 2,
    name: 'what the lockfile says of each package',
    sql: `
      CREATE TABLE locks (
        package_id TEXT PRIMARY KEY REFERENCES packages (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
        entry TEXT NOT NULL
      ) STRICT;
    `,
  },
]

const newest = migrations.reduce((most, { step }) => Math.max(most, step), 0)

/** Brings the schema up to date. Errors: STATE_TOO_NEW when a newer pkgd has written it; then nothing is changed. */
export function migrate(database: Database, clock: Clock): void {
  database.exec('CREATE TABLE IF NOT EXISTS migrations (step INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT')
  const applied = Number(database.get('SELECT max(step) AS step FROM migrations')?.step ?? 0)
  if (applied > newest) {
    throw new PkgdError('STATE_TOO_NEW', `The state database is at step ${applied}; this pkgd knows ${newest}`, {
      hint: 'use the newer pkgd that wrote it, or another PKGD_HOME',
    })
  }
  for (const { step, name, sql } of migrations) {
    if (step <= applied) continue
    database.transaction(
      () => {
        database.exec(sql)
        database.run('INSERT INTO migrations (step, name, applied_at) VALUES (?, ?, ?)', step, name, new Date(clock.now()).toISOString())
      },
      { durable: true },
    )
  }
}
