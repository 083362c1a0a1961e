import { PkgdError, toPkgdError } from '../core/errors.ts'
import type { OperationContext } from '../core/ports.ts'
import type { PackageRecord } from '../store/state.ts'
import { followVerdict, judgeEnd } from './followVerdict.ts'
import type { Run } from './run.ts'
import { startPackage } from './startPackage.ts'
import { findRecord, moveState, type Supervision, toErrorRecord } from './supervision.ts'

/** Who wants it started: the user, a call to a sleeping package, the daemon at its own start, or the restart policy. */
export type StartCause = 'user' | 'call' | 'boot' | 'restart'

export interface AttemptHooks {
  /** It is ready: watch it. */
  readonly begin: (run: Run) => void
  readonly restart: () => void
}

/** One attempt, under the package's lock, with what it does to the state: ready, failed, or to be tried again. Rejects with why it is not ready. */
export async function attemptStart(
  supervision: Supervision,
  cause: StartCause,
  context: OperationContext,
  hooks: AttemptHooks,
): Promise<void> {
  const { id, deps, over } = supervision
  const record = findRecord(supervision)
  supervision.cancelRestart()
  const own = new AbortController()
  supervision.attempt = own
  if (cause === 'user') deps.statuses.desire(id, 'running')
  moveState(supervision, 'start', cause === 'user' ? { restarts: [], wasReady: false } : {})
  const signal = AbortSignal.any([context.signal, own.signal, over.signal])
  try {
    const run = await startPackage(deps, record, {
      signal,
      progress: context.progress,
      onLaunched: (launched) => {
        supervision.unready = launched
      },
    })
    moveState(supervision, 'ready', { health: 'healthy', wasReady: true, ...(cause === 'user' ? { lastError: null } : {}) })
    hooks.begin(run)
  } catch (error) {
    if (over.signal.aborted) throw over.signal.reason
    throw signal.aborted ? cancel(supervision, cause, own.signal.aborted) : fail(supervision, { record, cause, error, hooks })
  } finally {
    supervision.attempt = null
    supervision.unready = null
  }
}

function cancel(supervision: Supervision, cause: StartCause, byStop: boolean): PkgdError {
  const { id, deps } = supervision
  moveState(supervision, cause === 'call' ? 'rest' : 'halt', { reason: 'cancelled' })
  if (cause === 'user' && !byStop) deps.statuses.desire(id, 'stopped')
  return new PkgdError('OPERATION_CANCELLED', `The start of ${id} was cancelled`)
}

/** Only what was once ready is tried again; a sleeping package goes back to sleep, so that the next call tries. */
function fail(
  supervision: Supervision,
  { record, cause, error, hooks }: { record: PackageRecord; cause: StartCause; error: unknown; hooks: AttemptHooks },
): PkgdError {
  const { id, deps, log } = supervision
  const why = toPkgdError(error)
  if (why.code === 'INTERNAL') log.error('a start failed', { error })
  const patch = { reason: 'start-failed', lastError: toErrorRecord(why, supervision) }
  if (cause === 'call') moveState(supervision, 'rest', patch)
  else if (cause !== 'user' && why.code === 'ENGINE_UNREACHABLE' && deps.engineLost()) {
    moveState(supervision, 'fail', { ...patch, reason: 'engine-unreachable' })
  } else if (cause === 'user' || !deps.statuses.get(id).wasReady) {
    moveState(supervision, 'refuse', patch)
    deps.statuses.desire(id, 'stopped')
  } else {
    followVerdict(supervision, judgeEnd(supervision, record, { kind: 'start-failed' }, 0), { record, patch, restart: hooks.restart })
  }
  return why
}
