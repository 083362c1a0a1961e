import { PkgdError, toPkgdError } from '../core/errors.ts'
import { canHappen } from './packageState.ts'
import { removeSandbox } from './removeSandbox.ts'
import { stopPackage } from './stopPackage.ts'
import { moveState, releaseRun, type Supervision, toErrorRecord } from './supervision.ts'

/** Ends whatever there is of the package, under its lock: `halt` leaves it stopped, `rest` asleep. */
export async function haltPackage(supervision: Supervision, to: 'halt' | 'rest', reason: string): Promise<void> {
  const { id, deps } = supervision
  supervision.cancelRestart()
  const run = releaseRun(supervision)
  if (!run) {
    const left = deps.state.sandboxes.get(id)
    if (left) await removeSandbox(deps, id, left.handle)
    // A former daemon's sandbox that this one has not taken over.
    if (canHappen(deps.statuses.get(id).state, 'stop')) moveState(supervision, 'stop', { reason })
    if (canHappen(deps.statuses.get(id).state, to)) moveState(supervision, to, { reason })
    return
  }
  moveState(supervision, 'stop', { reason })
  try {
    await stopPackage(deps, run, new PkgdError('NOT_RUNNING', `${id} was stopped`, { hint: `pkg start ${id}` }))
    moveState(supervision, to, { reason })
  } catch (error) {
    moveState(supervision, 'stick', { reason: 'stop-failed', lastError: toErrorRecord(toPkgdError(error), supervision) })
    throw error
  }
}
