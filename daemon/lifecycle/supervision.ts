import { toErrorRecord as toRecord } from '../core/errorRecord.ts'
import { PkgdError } from '../core/errors.ts'
import type { Logger } from '../core/ports.ts'
import type { ErrorRecord } from '../core/types.ts'
import type { PackageRecord } from '../store/state.ts'
import { type Changes, createChanges } from './changes.ts'
import type { KeyedLock } from './keyedLock.ts'
import type { StateEvent } from './packageState.ts'
import type { Run } from './run.ts'
import type { RunWatch } from './runWatch.ts'
import type { StartDeps } from './startPackage.ts'
import type { StatusPatch, StatusWriter } from './statusWriter.ts'

export type SupervisorDeps = StartDeps & {
  readonly statuses: StatusWriter
  readonly lock: KeyedLock
  /** Whether the engine is away: nothing is retried until it is back. */
  readonly engineLost: () => boolean
}

/** What is known in memory of one package while this daemon lives. */
export interface Supervision {
  readonly id: string
  readonly deps: SupervisorDeps
  readonly log: Logger
  readonly changes: Changes
  /** Aborted when the package was removed or the daemon ends: nothing is written about it any more. */
  readonly over: AbortController
  /** The run that got ready. */
  run: Run | null
  /** Launched, and not ready yet. */
  unready: Run | null
  /** Aborts the start that is under way. */
  attempt: AbortController | null
  watch: RunWatch | null
  cancelRestart: () => void
}

export const createSupervision = (id: string, deps: SupervisorDeps): Supervision => ({
  id,
  deps,
  log: deps.log.child({ package: id }),
  changes: createChanges(),
  over: new AbortController(),
  run: null,
  unready: null,
  attempt: null,
  watch: null,
  cancelRestart: () => {},
})

export function findRecord({ id, deps }: Supervision): PackageRecord {
  const record = deps.state.packages.get(id)
  if (!record) throw new PkgdError('PACKAGE_NOT_FOUND', `No package ${id} is installed`)
  return record
}

export const isOnDemand = (record: PackageRecord): boolean => record.manifest.start.mode === 'on-demand'

export function moveState({ id, deps, changes }: Supervision, event: StateEvent, patch: StatusPatch = {}): void {
  deps.statuses.move(id, event, patch)
  changes.notify()
}

/** Lets go of the current run; whoever calls it deals with its conversation and its sandbox. */
export function releaseRun(supervision: Supervision): Run | null {
  const released = supervision.run
  supervision.run = null
  supervision.watch?.[Symbol.dispose]()
  supervision.watch = null
  return released
}

/** As a package's last error: its issues are the job's to tell. */
export function toErrorRecord(error: PkgdError, { deps }: Supervision): ErrorRecord {
  const { issues: _, ...record } = toRecord(error, deps.clock.now())
  return record
}
