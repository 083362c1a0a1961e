import { PkgdError } from '../core/errors.ts'
import type { PackageState } from '../core/types.ts'

/**
 * The states of a package and what moves it between them. Health and the last error are kept apart from this.
 *
 *                      start                     ready
 *   stopped ───────────────────────► starting ─────────► running ◄──────► frozen
 *   asleep  ──────────────────────►   ▲  │  │             │  │    freeze    │
 *   failed  ──────────────────────►   │  │  │refuse       │  │     thaw     │
 *     ▲                         start │  │  ▼             │  │ stop         │ stop
 *     │                               │  │ failed     fail│  ▼              │
 *     │ giveUp                        │  │ fail           │ stopping ◄──────┘
 *     └───────────── backoff ─────────┘  └──► backoff ◄───┘  │
 *                                                            ├─ halt ──► stopped   (a stop that stays)
 *                                                            ├─ rest ──► asleep    (idle, on demand)
 *                                                            └─ stick ─► failed    (it could not be stopped)
 *
 * `refuse`: the first attempt failed, or a value or a file that it needs is not there. `fail`: it is to be restarted.
 * `giveUp`: it is not, any more. `end`: it ended by itself, as it may. `adopt`: a sandbox of a former daemon is running and its session was proven.
 * `vanish`: what a former daemon left has no sandbox any more.
 */
export type StateEvent =
  | 'start'
  | 'ready'
  | 'refuse'
  | 'fail'
  | 'giveUp'
  | 'end'
  | 'stop'
  | 'halt'
  | 'rest'
  | 'stick'
  | 'freeze'
  | 'thaw'
  | 'adopt'
  | 'vanish'

const table: Readonly<Record<PackageState, Readonly<Partial<Record<StateEvent, PackageState>>>>> = {
  stopped: { start: 'starting', halt: 'stopped', rest: 'asleep', adopt: 'running', refuse: 'failed' },
  asleep: { start: 'starting', halt: 'stopped', rest: 'asleep', adopt: 'running', vanish: 'stopped' },
  starting: {
    ready: 'running',
    refuse: 'failed',
    fail: 'backoff',
    giveUp: 'failed',
    stop: 'stopping',
    halt: 'stopped',
    rest: 'asleep',
    adopt: 'running',
    vanish: 'stopped',
  },
  running: {
    fail: 'backoff',
    giveUp: 'failed',
    end: 'stopped',
    stop: 'stopping',
    freeze: 'frozen',
    rest: 'asleep',
    adopt: 'running',
    vanish: 'stopped',
  },
  frozen: {
    fail: 'backoff',
    giveUp: 'failed',
    end: 'stopped',
    stop: 'stopping',
    thaw: 'running',
    rest: 'asleep',
    adopt: 'running',
    vanish: 'stopped',
  },
  backoff: { start: 'starting', giveUp: 'failed', halt: 'stopped', rest: 'asleep', adopt: 'running', vanish: 'stopped' },
  stopping: { halt: 'stopped', rest: 'asleep', stick: 'failed', adopt: 'running', vanish: 'stopped' },
  failed: { start: 'starting', halt: 'stopped', rest: 'asleep', adopt: 'running', refuse: 'failed' },
}

/** Whether `event` may happen in `state`. */
export const canHappen = (state: PackageState, event: StateEvent): boolean => table[state][event] !== undefined

/** The state after `event`. An event that may not happen there is a bug: INTERNAL. */
export function toNextState(state: PackageState, event: StateEvent): PackageState {
  const next = table[state][event]
  if (!next) throw new PkgdError('INTERNAL', `A package that is ${state} cannot ${event}`)
  return next
}

/** Every row of the table, for tests and documentation. */
export function listTransitions(): { from: PackageState; event: StateEvent; to: PackageState }[] {
  return (Object.keys(table) as PackageState[]).flatMap((from) =>
    (Object.entries(table[from]) as [StateEvent, PackageState][]).map(([event, to]) => ({ from, event, to })),
  )
}
