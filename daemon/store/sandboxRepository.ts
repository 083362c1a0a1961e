import type { Database, Row } from './database.ts'
import type { SandboxRecord, State } from './state.ts'

const toRecord = (row: Row): SandboxRecord => ({
  ...(JSON.parse(String(row.record)) as Omit<SandboxRecord, 'session'>),
  session: JSON.parse(String(row.session)),
})

export function createSandboxRepository(database: Database): State['sandboxes'] {
  return {
    list: () => database.all('SELECT record, session FROM sandboxes ORDER BY package_id').map(toRecord),
    get(packageId) {
      const row = database.get('SELECT record, session FROM sandboxes WHERE package_id = ?', packageId)
      return row && toRecord(row)
    },
    put({ session, ...record }) {
      database.run(
        `INSERT INTO sandboxes (package_id, record, session) VALUES (?, ?, ?)
         ON CONFLICT (package_id) DO UPDATE SET record = excluded.record, session = excluded.session`,
        record.packageId,
        JSON.stringify(record),
        JSON.stringify(session ?? null),
      )
    },
    setSession(packageId, session) {
      database.run('UPDATE sandboxes SET session = ? WHERE package_id = ?', JSON.stringify(session ?? null), packageId)
    },
    remove(packageId) {
      database.run('DELETE FROM sandboxes WHERE package_id = ?', packageId)
    },
  }
}
