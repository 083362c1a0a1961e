import type { Database } from './database.ts'
import type { PackageStatus, State } from './state.ts'

/** What is desired waits for the disk; what merely is does not: after a power cut it is found out anew. */
export function createStatusRepository(database: Database): State['statuses'] {
  return {
    get(id) {
      const row = database.get('SELECT status FROM statuses WHERE package_id = ?', id)
      return row && (JSON.parse(String(row.status)) as PackageStatus)
    },
    put(id, status) {
      const before = database.get('SELECT desired FROM statuses WHERE package_id = ?', id)?.desired
      const write = () =>
        database.run(
          `INSERT INTO statuses (package_id, desired, status) VALUES (?, ?, ?)
           ON CONFLICT (package_id) DO UPDATE SET desired = excluded.desired, status = excluded.status`,
          id,
          status.desired,
          JSON.stringify(status),
        )
      if (before === status.desired) write()
      else database.transaction(write, { durable: true })
    },
    remove(id) {
      database.run('DELETE FROM statuses WHERE package_id = ?', id)
    },
  }
}
