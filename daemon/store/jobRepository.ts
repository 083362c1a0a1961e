import type { Clock } from '../core/ports.ts'
import type { Database, Row } from './database.ts'
import type { JobRecord, State } from './state.ts'

const toRecord = (row: Row): JobRecord => JSON.parse(String(row.record))

/** Newest first; a cursor is the id of the last job of the page before. */
export function createJobRepository(database: Database, clock: Clock): State['jobs'] {
  const put = (job: JobRecord) =>
    database.run(
      'INSERT INTO jobs (id, state, record) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state, record = excluded.record',
      job.id,
      job.state,
      JSON.stringify(job),
    )
  return {
    list({ limit, cursor }) {
      const rows =
        cursor === undefined
          ? database.all('SELECT record FROM jobs ORDER BY seq DESC LIMIT ?', limit)
          : database.all('SELECT record FROM jobs WHERE seq < (SELECT seq FROM jobs WHERE id = ?) ORDER BY seq DESC LIMIT ?', cursor, limit)
      return rows.map(toRecord)
    },
    get(id) {
      const row = database.get('SELECT record FROM jobs WHERE id = ?', id)
      return row && toRecord(row)
    },
    put(job) {
      put(job)
    },
    failUnfinished(error) {
      return database.transaction(() => {
        const updatedAt = new Date(clock.now()).toISOString()
        const failed = database
          .all("SELECT record FROM jobs WHERE state IN ('queued', 'running') ORDER BY seq")
          .map((row): JobRecord => ({ ...toRecord(row), state: 'failed', error, updatedAt }))
        for (const job of failed) put(job)
        return failed
      })
    },
    prune(keepAtMost) {
      database.run(
        `DELETE FROM jobs WHERE state NOT IN ('queued', 'running')
         AND seq <= (SELECT seq FROM jobs ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
        keepAtMost,
      )
    },
  }
}
