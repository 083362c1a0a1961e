import type { Database } from './database.ts'
import type { SagaRecord, State } from './state.ts'

/** Written before the change it speaks of, and waited for: it is what a power cut is undone by. */
export function createSagaRepository(database: Database): State['sagas'] {
  return {
    list: () => database.all('SELECT record FROM sagas ORDER BY seq, job_id').map((row): SagaRecord => JSON.parse(String(row.record))),
    put(record) {
      const write = () =>
        database.run(
          `INSERT INTO sagas (job_id, seq, record) VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM sagas), ?)
           ON CONFLICT (job_id) DO UPDATE SET record = excluded.record`,
          record.jobId,
          JSON.stringify(record),
        )
      database.transaction(write, { durable: true })
    },
    remove(jobId) {
      database.transaction(() => database.run('DELETE FROM sagas WHERE job_id = ?', jobId), { durable: true })
    },
  }
}
