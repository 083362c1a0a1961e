import { followVerdict, judgeEnd } from './followVerdict.ts'
import { removeSandbox } from './removeSandbox.ts'
import type { RunEnd } from './restartPolicy.ts'
import type { Run } from './run.ts'
import { toCrashError } from './runEnd.ts'
import { stopPackage } from './stopPackage.ts'
import { releaseRun, type Supervision, toErrorRecord } from './supervision.ts'

/** The run is over and nobody asked for it: its calls fail now, its sandbox is removed, and the policy decides what follows. */
export function loseRun(supervision: Supervision, run: Run, end: RunEnd, restart: () => void): void {
  const { deps, log } = supervision
  if (supervision.run !== run) return
  releaseRun(supervision)
  const error = toCrashError(run.record, end)
  run.over.abort(error)
  run.session?.close(error).catch((failure: unknown) => log.warn('a session did not close', { error: String(failure) }))
  log.warn('the package ended', { why: error.message })
  // Before a restart can be queued: the lock is fair, so the old sandbox is gone when the new one is made.
  clearAway(supervision, run, end).catch((failure: unknown) => log.warn('a dead sandbox stays', { error: String(failure) }))
  const verdict = judgeEnd(supervision, run.record, end, deps.clock.now() - run.readyAt)
  followVerdict(supervision, verdict, {
    record: run.record,
    patch: { reason: end.kind, lastError: toErrorRecord(error, supervision) },
    restart,
  })
}

async function clearAway({ id, deps, over }: Supervision, run: Run, end: RunEnd): Promise<void> {
  using _held = await deps.lock.acquire(id)
  if (over.signal.aborted) return
  if (end.kind === 'unhealthy') {
    await stopPackage(deps, run, run.over.signal.reason)
    return
  }
  if (end.kind === 'exited') await deps.lastWords.capture(id, run.handle)
  await removeSandbox(deps, id, run.handle)
}

/** The conversation ended by itself: the engine is asked whether the sandbox did too. One that lives and does not talk is unhealthy. */
export async function findSilence({ deps, log }: Supervision, run: Run, reason: Error, onEnd: (end: RunEnd) => void): Promise<void> {
  run.silent = true
  try {
    const info = await deps.driver.recover(run.handle)
    if (!info) onEnd({ kind: 'vanished' })
    else if (info.status.state === 'exited') onEnd({ kind: 'exited', exit: info.status.exit })
    else onEnd({ kind: 'unhealthy' })
  } catch (error) {
    // The engine is away: when it is found again the sandbox is taken over anew.
    log.warn('the conversation ended and the engine does not say why', { reason: reason.message, error: String(error) })
  }
}
