import type { Database } from './database.ts'
import type { State } from './state.ts'

export function createCatalogRepository(database: Database): State['catalogs'] {
  return {
    get(packageId, tree) {
      const row = database.get('SELECT value FROM catalogs WHERE package_id = ? AND tree = ?', packageId, tree)
      return row && { packageId, tree, value: JSON.parse(String(row.value)) }
    },
    put({ packageId, tree, value }) {
      database.run(
        'INSERT INTO catalogs (package_id, tree, value) VALUES (?, ?, ?) ON CONFLICT (package_id, tree) DO UPDATE SET value = excluded.value',
        packageId,
        tree,
        JSON.stringify(value ?? null),
      )
    },
    remove(packageId) {
      database.run('DELETE FROM catalogs WHERE package_id = ?', packageId)
    },
  }
}
