import type { Home } from '../core/home.ts'
import type { Clock, Logger } from '../core/ports.ts'
import { createCatalogRepository } from './catalogRepository.ts'
import { bindIdentity } from './daemonIdentity.ts'
import type { Database } from './database.ts'
import { continueEventIds, createEventRepository } from './eventRepository.ts'
import { createJobRepository } from './jobRepository.ts'
import { createLockRepository } from './lockRepository.ts'
import { openDatabase } from './openDatabase.ts'
import { createPackageRepository } from './packageRepository.ts'
import { createSagaRepository } from './sagaRepository.ts'
import { createSandboxRepository } from './sandboxRepository.ts'
import { createSecretRepository } from './secretRepository.ts'
import type { State } from './state.ts'
import { createStatusRepository } from './statusRepository.ts'

const restoredKey = 'restored'

function createMeta(database: Database): State['meta'] {
  return {
    get(key) {
      const row = database.get('SELECT value FROM meta WHERE key = ?', key)
      return row && String(row.value)
    },
    put(key, value) {
      const write = () =>
        database.run('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value', key, value)
      database.transaction(write, { durable: true })
    },
  }
}

/**
 * Opens the home's state; the home exists and nobody else has it open. Errors: STATE_TOO_NEW, DISK_FULL. A damaged database is set aside, and
 * `restored` stays true over restarts until `markRepaired`.
 */
export function openState({ home, clock, log }: { home: Home; clock: Clock; log: Logger }): State {
  const { database, setAside } = openDatabase({ path: home.state, clock, log })
  try {
    const identity = bindIdentity(home)
    const meta = createMeta(database)
    if (setAside !== null) {
      meta.put(restoredKey, setAside)
      continueEventIds(database, clock.now())
    }
    if (identity.copied) {
      log.warn('this home was copied from elsewhere: it has a new daemon id and none of the sandboxes of the old one', { id: identity.id })
      database.run('DELETE FROM sandboxes')
    }
    return {
      daemonId: identity.id,
      get restored() {
        return Boolean(meta.get(restoredKey))
      },
      markRepaired() {
        meta.put(restoredKey, '')
      },
      transaction: database.transaction,
      packages: createPackageRepository(database, identity.id),
      statuses: createStatusRepository(database),
      sandboxes: createSandboxRepository(database),
      catalogs: createCatalogRepository(database),
      locks: createLockRepository(database),
      secrets: createSecretRepository(database),
      jobs: createJobRepository(database, clock),
      sagas: createSagaRepository(database),
      events: createEventRepository(database),
      meta,
      [Symbol.dispose]: () => database[Symbol.dispose](),
    }
  } catch (error) {
    database[Symbol.dispose]()
    throw error
  }
}
