import type { Logger } from '../core/ports.ts'
import type { SagaRecord } from '../store/state.ts'

/**
 * A saga's journal entry, as data, so that a later process can act on it. Until the commit it says how to undo; after it, what is left to finish.
 *
 *   doing ── step, note ──▶ doing ── commit ──▶ committed ── finish all ──▶ (removed)
 *     └── a failure, or a start that finds it ──▶ undone in reverse ──▶ (removed)
 */
export type SagaData<U, F> =
  | { readonly phase: 'doing'; readonly undo: readonly U[] }
  | { readonly phase: 'committed'; readonly finish: readonly F[] }

/** What a kind of saga can undo and finish. Both must bear being repeated: a process may die between the deed and its crossing-out. */
export interface SagaEffects<U, F> {
  undo(effect: U): Promise<void>
  finish(effect: F): Promise<void>
  /** Reads back what an earlier process wrote; undefined for what is none of ours. */
  parse(data: unknown): SagaData<U, F> | undefined
}

/** Where the journal is kept; `transaction` makes writes one and waits for the disk. */
export interface SagaJournal {
  put(record: SagaRecord): void
  remove(jobId: string): void
  list(): SagaRecord[]
  transaction<T>(body: () => T, options: { durable: true }): T
}

export interface Saga<U, F> {
  /** Writes durably how to undo, then runs the body. */
  step<T>(name: string, undo: readonly U[], body: () => Promise<T>): Promise<T>
  /** Adds what can only be known afterwards. What a death before the note would leave must be found by other means. */
  note(name: string, undo: U): void
  /** The point of no return: `write` and the journal's turn to `finish` are one durable transaction. */
  commit(write: () => void, finish: readonly F[]): void
}

export interface SagaDeps<U, F> {
  readonly journal: SagaJournal
  readonly effects: SagaEffects<U, F>
  readonly logger: Logger
}

/** Runs the body as a saga. What fails before the commit is undone in reverse, each effect once; what fails to be undone is left to the next start. */
export async function runSaga<U, F, T>(
  deps: SagaDeps<U, F>,
  identity: { readonly jobId: string; readonly kind: string },
  body: (saga: Saga<U, F>) => Promise<T>,
): Promise<T> {
  const { journal } = deps
  const undo: U[] = []
  let committed: readonly F[] | undefined
  const write = (step: string, data: SagaData<U, F>) => journal.put({ ...identity, step, data })
  const record = (step: string, more: readonly U[]) => {
    undo.push(...more)
    journal.transaction(() => write(step, { phase: 'doing', undo: [...undo] }), { durable: true })
  }
  const saga: Saga<U, F> = {
    async step(name, more, run) {
      record(name, more)
      return run()
    },
    note: (name, more) => record(name, [more]),
    commit(persist, finish) {
      journal.transaction(
        () => {
          persist()
          if (finish.length > 0) write('committed', { phase: 'committed', finish })
          else journal.remove(identity.jobId)
        },
        { durable: true },
      )
      committed = finish
    },
  }
  try {
    return await body(saga)
  } catch (error) {
    if (!committed) await undoAll(deps, identity, undo)
    throw error
  } finally {
    if (committed) await finishAll(deps, identity, committed)
  }
}

/** Undoes or finishes what dead processes left. Resolves with the job ids that were settled. */
export async function recoverSagas<U, F>(deps: SagaDeps<U, F>): Promise<string[]> {
  const settled: string[] = []
  for (const record of deps.journal.list()) {
    const data = deps.effects.parse(record.data)
    if (!data) {
      deps.logger.error('A journal entry cannot be read and is left alone', { jobId: record.jobId, kind: record.kind, step: record.step })
      continue
    }
    const done = data.phase === 'doing' ? await undoAll(deps, record, data.undo) : await finishAll(deps, record, data.finish)
    if (done) settled.push(record.jobId)
  }
  return settled
}

type Identity = Pick<SagaRecord, 'jobId' | 'kind'>

const undoAll = <U, F>(deps: SagaDeps<U, F>, identity: Identity, undo: readonly U[]) =>
  settle(deps, identity, undo.toReversed(), 'undo', (effect) => deps.effects.undo(effect))

const finishAll = <U, F>(deps: SagaDeps<U, F>, identity: Identity, finish: readonly F[]) =>
  settle(deps, identity, finish, 'finish', (effect) => deps.effects.finish(effect))

/** Runs each effect whatever the others do; the journal entry goes only when all succeeded. */
async function settle<U, F, E>(
  deps: SagaDeps<U, F>,
  identity: Identity,
  effects: readonly E[],
  what: 'undo' | 'finish',
  run: (effect: E) => Promise<void>,
): Promise<boolean> {
  let failed = false
  const attempt = async (act: () => Promise<void>) => {
    try {
      await act()
    } catch (error) {
      failed = true
      const reason = error instanceof Error ? error.message : String(error)
      deps.logger.error(`Could not ${what} a step; the next start tries again`, { jobId: identity.jobId, kind: identity.kind, reason })
    }
  }
  for (const effect of effects) await attempt(() => run(effect))
  if (!failed) await attempt(async () => deps.journal.transaction(() => deps.journal.remove(identity.jobId), { durable: true }))
  return !failed
}
