import type { CloudEvent } from '../core/events.ts'
import type { Database, Row } from './database.ts'
import type { State } from './state.ts'

const toEvent = (row: Row): CloudEvent => {
  const { specversion, ...rest } = JSON.parse(String(row.event)) as Omit<CloudEvent, 'id'>
  return { specversion, id: String(row.id), ...rest }
}

/** In a new database ids go on above all that a lost one can have given, at less than one a millisecond: whoever names an old id misses nothing. */
export function continueEventIds(database: Database, now: number): void {
  database.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)", now)
}

/** Ids only grow, without a gap, and are never used again, whatever was pruned. */
export function createEventRepository(database: Database): State['events'] {
  return {
    append(event) {
      const { lastInsertRowid } = database.run(
        'INSERT INTO events (time, type, event) VALUES (?, ?, ?)',
        event.time,
        event.type,
        JSON.stringify(event),
      )
      const { specversion, ...rest } = event
      return { specversion, id: String(lastInsertRowid), ...rest }
    },
    since: (id, limit) => database.all('SELECT id, event FROM events WHERE id > ? ORDER BY id LIMIT ?', BigInt(id), limit).map(toEvent),
    before: (id, limit) =>
      database.all('SELECT id, event FROM events WHERE id < ? ORDER BY id DESC LIMIT ?', BigInt(id), limit).map(toEvent),
    last: () => String(database.get("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.seq ?? 0),
    prune(olderThan, keepAtMost) {
      database.transaction(() => {
        database.run('DELETE FROM events WHERE time < ?', olderThan)
        database.run('DELETE FROM events WHERE id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?)', keepAtMost)
      })
    },
  }
}
