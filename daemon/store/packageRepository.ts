import type { Database } from './database.ts'
import type { PackageRecord, State } from './state.ts'
import { toFirstUid } from './uidRange.ts'

const toRecord = (row: { record?: unknown }): PackageRecord => JSON.parse(String(row.record))

export function createPackageRepository(database: Database, daemonId: string): State['packages'] {
  const durably = <T>(body: () => T) => database.transaction(body, { durable: true })
  return {
    list: () => database.all('SELECT record FROM packages ORDER BY id').map(toRecord),
    get(id) {
      const row = database.get('SELECT record FROM packages WHERE id = ?', id)
      return row && toRecord(row)
    },
    put(record) {
      durably(() =>
        database.run(
          'INSERT INTO packages (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
          record.id,
          JSON.stringify(record),
        ),
      )
    },
    remove(id) {
      durably(() => database.run('DELETE FROM packages WHERE id = ?', id))
    },
    allocateUid(id, configured) {
      const first = toFirstUid(daemonId, configured)
      return durably(() => {
        const known = database.get('SELECT uid FROM uids WHERE package_id = ?', id)
        if (known) return Number(known.uid)
        const highest = database.get('SELECT max(uid) AS uid FROM uids')?.uid
        const uid = typeof highest === 'number' ? Math.max(first, highest + 1) : first
        database.run('INSERT INTO uids (package_id, uid) VALUES (?, ?)', id, uid)
        return uid
      })
    },
  }
}
