import type { Clock } from '../core/ports.ts'
import type { ErrorRecord, Health } from '../core/types.ts'
import type { EventBus } from '../events/eventBus.ts'
import type { PackageRecord, PackageStatus, State } from '../store/state.ts'
import { type StateEvent, toNextState } from './packageState.ts'

/** What goes with a transition. Absent fields stay as they are; `reason` is cleared when absent. */
export interface StatusPatch {
  readonly reason?: string
  readonly health?: Health
  readonly lastError?: ErrorRecord | null
  readonly restarts?: readonly string[]
  readonly wasReady?: boolean
  readonly desired?: PackageStatus['desired']
}

/** The one writer of package statuses: each change is stored, then published. */
export interface StatusWriter {
  get(id: string): PackageStatus
  /** Writes the status a package has right after its install, if it has none. */
  begin(record: PackageRecord): void
  /** What the user wants, on the disk before it is acted on. */
  desire(id: string, desired: PackageStatus['desired']): void
  move(id: string, event: StateEvent, patch?: StatusPatch): PackageStatus
  /** Changes what is beside the state. */
  note(id: string, patch: Pick<StatusPatch, 'health' | 'lastError'>): void
  remove(id: string): void
}

/** An installed package that never ran: asleep where the first call starts it. */
export function toInitialStatus(record: PackageRecord, at: string): PackageStatus {
  const onDemand = record.manifest.start.mode === 'on-demand'
  return {
    desired: onDemand ? 'running' : 'stopped',
    state: onDemand ? 'asleep' : 'stopped',
    reason: null,
    health: 'unknown',
    lastError: null,
    restarts: [],
    wasReady: false,
    since: at,
  }
}

export interface StatusWriterDeps {
  readonly state: State
  readonly bus: EventBus
  readonly clock: Clock
}

export function createStatusWriter({ state, bus, clock }: StatusWriterDeps): StatusWriter {
  const at = () => new Date(clock.now()).toISOString()
  const get = (id: string): PackageStatus => {
    const status = state.statuses.get(id)
    if (status) return status
    const record = state.packages.get(id)
    if (!record) throw new Error(`The package ${id} has neither a record nor a status`)
    return toInitialStatus(record, record.installedAt)
  }
  const put = (id: string, status: PackageStatus, durable: boolean) => state.transaction(() => state.statuses.put(id, status), { durable })

  return {
    get,
    begin(record) {
      if (!state.statuses.get(record.id)) put(record.id, toInitialStatus(record, at()), false)
    },
    desire(id, desired) {
      const status = get(id)
      if (status.desired !== desired) put(id, { ...status, desired }, true)
    },
    move(id, event, patch = {}) {
      const from = get(id)
      const to = toNextState(from.state, event)
      const moved = from.state !== to
      const next: PackageStatus = {
        ...from,
        ...patch,
        state: to,
        reason: patch.reason ?? null,
        health: patch.health ?? (to === 'running' ? from.health : 'unknown'),
        since: moved ? at() : from.since,
      }
      put(id, next, next.desired !== from.desired)
      if (moved) {
        bus.publish('package.state', id, {
          from: from.state,
          to,
          ...(next.reason === null ? {} : { reason: next.reason }),
          ...(patch.lastError ? { error: patch.lastError } : {}),
        })
      }
      if (next.health !== from.health && to === 'running') bus.publish('package.health', id, { health: next.health })
      return next
    },
    note(id, patch) {
      const from = get(id)
      const next = { ...from, ...patch }
      if (next.health === from.health && next.lastError === from.lastError) return
      put(id, next, false)
      if (next.health !== from.health) {
        bus.publish('package.health', id, { health: next.health, ...(patch.lastError ? { reason: patch.lastError.message } : {}) })
      }
    },
    remove: (id) => state.statuses.remove(id),
  }
}
