import type { SandboxHandle } from '../../sandbox/sandboxDriver.ts'
import type { Redactor } from '../core/redactor.ts'
import type { SandboxExit } from '../core/types.ts'
import type { PackageRecord } from '../store/state.ts'
import type { HostSession } from './packageHost.ts'

/** One life of a package's sandbox, as this daemon sees it. */
export interface Run {
  readonly record: PackageRecord
  readonly handle: SandboxHandle
  /** Of the secrets that it was launched with. */
  readonly redactor: Redactor
  /** Aborted, with the error that its calls get, when the run is over. */
  readonly over: AbortController
  /** How the sandbox ended, once that is known. */
  exit: SandboxExit | null
  /** Resolves when it is. */
  readonly exited: PromiseWithResolvers<SandboxExit>
  /** Null until it is ready. */
  session: HostSession | null
  /** True when the conversation ended though the sandbox may live on. */
  silent: boolean
  frozen: boolean
  /** When it got ready, ms. */
  readyAt: number
}

export const createRun = (record: PackageRecord, handle: SandboxHandle, redactor: Redactor): Run => ({
  record,
  handle,
  redactor,
  over: new AbortController(),
  exit: null,
  exited: Promise.withResolvers(),
  session: null,
  silent: false,
  frozen: false,
  readyAt: 0,
})

/** Notes how the sandbox ended. */
export function noteExit(run: Run, exit: SandboxExit): void {
  run.exit ??= exit
  run.exited.resolve(exit)
}
