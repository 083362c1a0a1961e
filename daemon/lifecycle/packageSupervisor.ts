import type { SandboxInfo } from '../../sandbox/sandboxDriver.ts'
import { PkgdError } from '../core/errors.ts'
import type { OperationContext } from '../core/ports.ts'
import type { SandboxRecord } from '../store/state.ts'
import { adoptRun } from './adoptRun.ts'
import { type AttemptHooks, attemptStart, type StartCause } from './attemptStart.ts'
import { haltPackage } from './haltPackage.ts'
import { findSilence, loseRun } from './loseRun.ts'
import { canHappen } from './packageState.ts'
import { removeSandbox } from './removeSandbox.ts'
import type { RunEnd } from './restartPolicy.ts'
import type { Run } from './run.ts'
import { watchRun } from './runWatch.ts'
import {
  createSupervision,
  findRecord,
  isOnDemand,
  moveState,
  releaseRun,
  type Supervision,
  type SupervisorDeps,
  toErrorRecord,
} from './supervision.ts'
import { noteThaw, type OwnSandboxEvent, takeSandboxEvent } from './takeSandboxEvent.ts'

/** All that happens to one package, one thing at a time. */
export interface PackageSupervisor {
  /** The run whose conversation works, frozen or not. */
  live(): Run | null
  /** Whether a call can be made now. */
  isReady(): boolean
  /** As long as it is what the user wants, unless the user is the cause. Already running is fine; a frozen one is thawed. */
  start(cause: StartCause, context: OperationContext): Promise<void>
  /** Stops and starts it as the user's will that it runs, which a death in between does not undo. */
  restart(context: OperationContext): Promise<void>
  /** A user's stop stays; it cuts a start short. */
  stop(): Promise<void>
  /** Runs `body` with the package stopped and no one starting it; then it is as it was before. */
  withStopped<T>(body: () => Promise<T>, signal: AbortSignal): Promise<T>
  /** Takes over what a former daemon left, if it still stands; false when its sandbox had to be replaced. */
  adopt(known: SandboxRecord, info: SandboxInfo): Promise<boolean>
  /** `needed` did not start: it is not started until that is there. */
  hold(needed: string): void
  /** The state speaks of a sandbox that is not there: it is set right. */
  vacate(reason: string): void
  /** A sandbox of this package ended without an event having told. */
  missed(end: RunEnd): void
  sandboxEvent(event: OwnSandboxEvent): void
  /** A call is coming. */
  touch(): void
  thaw(): Promise<void>
  /** Resolves at the next change of state. */
  changed(signal: AbortSignal): Promise<void>
  /** The package was removed: lets go of all of it. */
  forget(): Promise<void>
  /** The daemon ends: the sandbox stays, the conversation is let go. */
  close(reason: Error): Promise<void>
}

/** The reason of a package that waits, failed, for one that it needs. */
export const heldReason = 'dependency-failed'

export function createPackageSupervisor(id: string, deps: SupervisorDeps): PackageSupervisor {
  const { state, driver, statuses, lock, clock } = deps
  const supervision = createSupervision(id, deps)
  const { log, changes, over } = supervision
  const quiet: OperationContext = { signal: over.signal, progress: () => undefined }

  const lose = (run: Run, end: RunEnd) => loseRun(supervision, run, end, restart)
  const restart = () => {
    const again = async () => {
      using _held = await lock.acquire(id)
      if (over.signal.aborted) return
      const { state: now, desired } = statuses.get(id)
      if (now === 'backoff' && desired === 'running') await attemptStart(supervision, 'restart', quiet, hooks)
    }
    again().catch((error: unknown) => log.warn('a restart failed', { error: String(error) }))
  }
  const thaw = async (run: Run) => {
    if (statuses.get(id).state !== 'frozen') return
    await driver.thaw(run.handle)
    if (supervision.run === run) noteThaw(supervision)
  }
  const sleep = async (run: Run) => {
    using _held = await lock.acquire(id)
    if (supervision.run === run && supervision.watch?.isIdle()) await haltPackage(supervision, 'rest', 'idle')
  }
  const begin = (run: Run) => {
    const { session } = run
    if (!session) throw new PkgdError('INTERNAL', `${id} is said to be ready without a session`)
    supervision.run = run
    supervision.watch = watchRun({
      clock,
      run,
      session,
      onHealthy: () => statuses.note(id, { health: 'healthy' }),
      onProbeFailed: (error) => log.warn('a health check failed', { error: String(error) }),
      onUnhealthy: () => {
        statuses.note(id, { health: 'unhealthy' })
        lose(run, { kind: 'unhealthy' })
      },
      onIdle: () => void sleep(run).catch((error: unknown) => log.warn('it could not be put to sleep', { error: String(error) })),
      onSilent: (reason) => void findSilence(supervision, run, reason, (end) => lose(run, end)),
    })
    // Its end may have been told in the moment in which it got ready.
    if (run.exit) lose(run, { kind: 'exited', exit: run.exit })
  }
  const hooks: AttemptHooks = { begin, restart }

  return {
    live: () => (supervision.run?.silent === false ? supervision.run : null),
    isReady: () => supervision.run !== null && !supervision.run.silent && !supervision.run.frozen,
    async start(cause, context) {
      using _held = await lock.acquire(id, context.signal)
      over.signal.throwIfAborted()
      const record = findRecord(supervision)
      if (cause !== 'user' && statuses.get(id).desired === 'stopped') return
      if (supervision.run) {
        if (cause === 'user') statuses.desire(id, 'running')
        if (!supervision.run.silent) {
          await thaw(supervision.run)
          return
        }
        await haltPackage(supervision, isOnDemand(record) ? 'rest' : 'halt', 'replaced')
      }
      if (!canHappen(statuses.get(id).state, 'start'))
        moveState(supervision, isOnDemand(record) ? 'rest' : 'vanish', { reason: 'replaced' })
      await attemptStart(supervision, cause, context, hooks)
    },
    async restart(context) {
      findRecord(supervision)
      supervision.attempt?.abort(new PkgdError('OPERATION_CANCELLED', `${id} is being restarted`))
      using _held = await lock.acquire(id, context.signal)
      over.signal.throwIfAborted()
      statuses.desire(id, 'running')
      await haltPackage(supervision, 'halt', 'restarted')
      await attemptStart(supervision, 'user', context, hooks)
    },
    async stop() {
      findRecord(supervision)
      statuses.desire(id, 'stopped')
      supervision.attempt?.abort(new PkgdError('OPERATION_CANCELLED', `${id} is being stopped`))
      using _held = await lock.acquire(id)
      if (over.signal.aborted) return
      // A start that was queued before this stop has wished for the opposite meanwhile.
      statuses.desire(id, 'stopped')
      await haltPackage(supervision, 'halt', 'stopped')
    },
    async withStopped(body, signal) {
      const before = state.packages.get(id) && statuses.get(id)
      const wasUp = before?.desired === 'running' && before.state !== 'asleep' && before.state !== 'failed'
      supervision.attempt?.abort(new PkgdError('OPERATION_CANCELLED', `${id} is being replaced`))
      using _held = await lock.acquire(id, signal)
      const record = state.packages.get(id)
      if (record) await haltPackage(supervision, isOnDemand(record) && before?.desired === 'running' ? 'rest' : 'halt', 'replaced')
      try {
        return await body()
      } finally {
        const after = state.packages.get(id)
        if (wasUp && after && !isOnDemand(after) && !over.signal.aborted) {
          await attemptStart(supervision, 'boot', quiet, hooks).catch((error: unknown) => {
            log.warn('it did not come back after it was replaced', { error: String(error) })
          })
        }
      }
    },
    async adopt(known, info) {
      using _held = await lock.acquire(id)
      over.signal.throwIfAborted()
      // Whoever had the lock before may have taken it over, replaced the sandbox, or wished it away.
      if (supervision.run?.silent === false || state.sandboxes.get(id)?.handle.id !== known.handle.id) return true
      if (statuses.get(id).desired === 'stopped') {
        await haltPackage(supervision, 'halt', 'stopped')
        return true
      }
      return await adoptRun(supervision, known, info, begin)
    },
    vacate(reason) {
      const status = statuses.get(id)
      if (isOnDemand(findRecord(supervision)) && status.desired === 'running') {
        if (status.state !== 'asleep') moveState(supervision, 'rest', { reason })
      } else if (canHappen(status.state, 'vanish')) moveState(supervision, 'vanish', { reason })
    },
    hold(needed) {
      // Somebody else got it up meanwhile, or is at it.
      if (supervision.run || lock.isHeld(id)) return
      const error = new PkgdError('START_FAILED', `${id} needs ${needed}, which did not start`, { hint: `see why: pkg info ${needed}` })
      const patch = { reason: heldReason, lastError: toErrorRecord(error, supervision) }
      const event = (['refuse', 'giveUp'] as const).find((each) => canHappen(statuses.get(id).state, each))
      if (event) moveState(supervision, event, patch)
    },
    missed(end) {
      if (supervision.run) lose(supervision.run, end)
    },
    sandboxEvent: (event) => takeSandboxEvent(supervision, event, lose),
    touch: () => supervision.watch?.touch(),
    async thaw() {
      using _held = await lock.acquire(id)
      if (supervision.run) await thaw(supervision.run)
    },
    changed: (signal) => changes.next(signal),
    async forget() {
      await letGo(supervision, new PkgdError('PACKAGE_NOT_FOUND', `${id} was uninstalled`))
      const left = state.sandboxes.get(id)
      if (left) await removeSandbox(deps, id, left.handle)
    },
    async close(reason) {
      await letGo(supervision, reason)
      // What is under way ends by its own abort.
      using _held = await lock.acquire(id)
    },
  }
}

async function letGo(supervision: Supervision, reason: Error): Promise<void> {
  supervision.cancelRestart()
  supervision.over.abort(reason)
  const run = releaseRun(supervision)
  run?.over.abort(reason)
  await run?.session?.close(reason)
  supervision.changes.notify()
}
