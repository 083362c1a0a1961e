import type { LockedPackage } from '../../registry/lockfile/lockfile.ts'
import type { Database } from './database.ts'
import type { State } from './state.ts'

/** An entry goes with its package. */
export function createLockRepository(database: Database): State['locks'] {
  return {
    list: () =>
      Object.fromEntries(
        database
          .all('SELECT package_id, entry FROM locks ORDER BY package_id')
          .map((row): [string, LockedPackage] => [String(row.package_id), JSON.parse(String(row.entry))]),
      ),
    put(packageId, entry) {
      database.run(
        'INSERT INTO locks (package_id, entry) VALUES (?, ?) ON CONFLICT (package_id) DO UPDATE SET entry = excluded.entry',
        packageId,
        JSON.stringify(entry),
      )
    },
  }
}
