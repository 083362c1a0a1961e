import type { LogEntry, LogQuery, SandboxStats } from '../../sandbox/sandboxDriver.ts'
import type { OperationContext } from '../core/ports.ts'
import type { PackageRecord, PackageStatus, SandboxRecord } from '../store/state.ts'

/** A package as the API shows it. */
export interface PackageView {
  readonly record: PackageRecord
  readonly status: PackageStatus
  readonly sandbox: SandboxRecord | null
}

/** Runs packages: the one writer of their states and the only restarter. */
export interface Lifecycle extends AsyncDisposable {
  /** Adopts, sweeps and starts what should run; resolves when adoption is done (starts go on in the background). */
  open(): Promise<void>
  /** Makes what is and what should be agree once more, outside of its turn; resolves with the names of the sandboxes that were removed. */
  sweep(): Promise<string[]>
  list(): PackageView[]
  /** Errors: PACKAGE_NOT_FOUND with the nearest id as the hint. */
  get(id: string): PackageView
  /** Starts it after what it depends on; ends with the first attempt's outcome. Already running is fine. */
  start(id: string, context: OperationContext): Promise<PackageView>
  /** Stops what depends on it first (those are named in the progress), then it; it stays stopped. */
  stop(id: string, context: OperationContext): Promise<PackageView>
  restart(id: string, context: OperationContext): Promise<PackageView>
  /** Runs `body` while no one starts or stops the package, with it stopped; used by install (replace) and uninstall. */
  withStopped<T>(id: string, body: () => Promise<T>, context: OperationContext): Promise<T>
  /** Takes a package that install has just written, or lets go of one that was removed. */
  added(id: string): void
  removed(id: string): Promise<void>
  /** Resolves when the package is running: starts an asleep on-demand one; NOT_RUNNING with the hint `pkg start <id>` for a stopped one. */
  ensureRunning(id: string, signal: AbortSignal): Promise<void>
  logs(id: string, query: LogQuery): AsyncIterable<LogEntry>
  stats(id: string): Promise<SandboxStats>
}
