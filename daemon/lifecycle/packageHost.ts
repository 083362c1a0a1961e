import type { Duplex } from 'node:stream'
import type { Redactor } from '../core/redactor.ts'
import type { PackageRecord } from '../store/state.ts'

/** What lifecycle gives a host to speak with a package. */
export interface HostContext {
  readonly record: PackageRecord
  /** Opens the package's stdin and stdout. */
  stdio(): Promise<Duplex>
  dial(target: { port: number } | { socket: string }): Promise<Duplex>
  /** What a former daemon had stored with `saveSession`, when this sandbox is being adopted; undefined for a new one. */
  readonly session: unknown
  saveSession(session: unknown): void
  /** Aborted when the sandbox ends or the package is stopped. */
  readonly signal: AbortSignal
  /** What the package says of itself and is not an answer to a caller, its errors above all, passes through it: it may hold its secrets. */
  readonly redactor: Redactor
}

/** A live conversation with one package's sandbox. */
export interface HostSession {
  /** Healthy or not: an MCP ping. Rejects when it is not. A busy package whose calls make progress is healthy. */
  probe(signal: AbortSignal): Promise<void>
  /** Fails all that is under way with `reason` and lets go of the channel; the package itself is not touched. */
  close(reason: Error): Promise<void>
  /** Calls under way. With it an on-demand package is never put to sleep during a call; without it only the time since the last call counts. */
  readonly pending?: number
  /** Resolves when the conversation has ended without `close`, with why: the channel ended, or the package broke the protocol beyond repair. */
  readonly closed?: Promise<Error>
}

/** The daemon part that speaks a package type's protocol. `connect` resolves when the package is ready; the deadline is the signal's. */
export interface PackageHost {
  /** Errors: HANDSHAKE_TIMEOUT, PROTOCOL_ERROR. For an adopted sandbox it proves the stored session by a ping; when that fails the sandbox is restarted. */
  connect(context: HostContext, signal: AbortSignal): Promise<HostSession>
  /** Called once when a package is uninstalled or replaced. */
  forget(packageId: string): void
}
