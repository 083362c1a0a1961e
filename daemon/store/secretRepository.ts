import type { Database } from './database.ts'
import type { State } from './state.ts'

/** Values that are shown and logged nowhere. The file that holds them is readable by the daemon's user alone. */
export function createSecretRepository(database: Database): State['secrets'] {
  return {
    get(packageId, name) {
      const row = database.get('SELECT value FROM secrets WHERE package_id = ? AND name = ?', packageId, name)
      return row && String(row.value)
    },
    put(packageId, name, value) {
      const write = () =>
        database.run(
          'INSERT INTO secrets (package_id, name, value) VALUES (?, ?, ?) ON CONFLICT (package_id, name) DO UPDATE SET value = excluded.value',
          packageId,
          name,
          value,
        )
      database.transaction(write, { durable: true })
    },
    remove(packageId, name) {
      database.transaction(() => database.run('DELETE FROM secrets WHERE package_id = ? AND name = ?', packageId, name), { durable: true })
    },
    removeAll(packageId) {
      database.transaction(() => database.run('DELETE FROM secrets WHERE package_id = ?', packageId), { durable: true })
    },
  }
}
