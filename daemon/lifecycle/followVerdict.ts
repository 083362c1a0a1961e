import type { PackageRecord } from '../store/state.ts'
import { canHappen } from './packageState.ts'
import { decideRestart, type RestartVerdict, type RunEnd } from './restartPolicy.ts'
import type { StatusPatch } from './statusWriter.ts'
import { isOnDemand, moveState, type Supervision } from './supervision.ts'

/** Asks the policy what follows the end of a run that was ready for `ranMs`. */
export function judgeEnd({ id, deps }: Supervision, record: PackageRecord, end: RunEnd, ranMs: number): RestartVerdict {
  const { statuses, config, clock, random } = deps
  const status = statuses.get(id)
  return decideRestart(
    {
      policy: record.manifest.restart,
      desired: status.desired,
      wasReady: status.wasReady,
      end,
      restarts: status.restarts.map(Date.parse),
      ranMs,
      stableMs: config().lifecycle.stableMs,
    },
    clock.now(),
    random,
  )
}

/** Carries a verdict out: the only place where a restart is scheduled or given up. */
export function followVerdict(
  supervision: Supervision,
  verdict: RestartVerdict,
  { record, patch, restart }: { record: PackageRecord; patch: StatusPatch; restart: () => void },
): void {
  const { id, deps } = supervision
  switch (verdict.kind) {
    case 'restart':
      moveState(supervision, 'fail', { ...patch, restarts: verdict.restarts.map((at) => new Date(at).toISOString()) })
      supervision.cancelRestart = deps.clock.after(verdict.afterMs, restart)
      return
    case 'giveUp':
      moveState(supervision, 'giveUp', { ...patch, reason: verdict.reason })
      return
    case 'end': {
      const event = isOnDemand(record) ? 'rest' : canHappen(deps.statuses.get(id).state, 'end') ? 'end' : 'halt'
      moveState(supervision, event, { ...patch, reason: verdict.reason })
    }
  }
}
