import type { Duplex } from 'node:stream'
import type { DialTarget, LaunchSpec } from '../sandboxDriver.ts'

/** What a program sees of its sandbox. */
export interface ProgramContext {
  /** argv; the first names the program. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly mounts: LaunchSpec['mounts']
  /** Its stdin and stdout. */
  readonly stdio: Duplex
  /** Writes one line to stderr. */
  stderr(line: string): void
  /** Takes SIGTERM over; without a handler SIGTERM ends the program. */
  onTerm(handler: () => void): void
  /** Aborted when the program was killed or has ended: nothing it does afterwards has an effect. */
  readonly killed: AbortSignal
  /** Serves connections that `dial` makes. */
  listen(target: DialTarget, accept: (connection: Duplex) => void): void
  /** Takes memory. Beyond the limit the program is killed for it. */
  allocate(bytes: number): void
  /** Resolves after `ms`, or rejects when the program is killed. */
  sleep(ms: number): Promise<void>
}

/** A program of the fake driver: a function that resolves with its exit code. One that throws exits with 1, its error on stderr. */
export type FakeProgram = (context: ProgramContext) => Promise<number>
