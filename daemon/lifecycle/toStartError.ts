import { findCoded, PkgdError } from '../core/errors.ts'
import type { SandboxExit } from '../core/types.ts'
import type { PackageRecord } from '../store/state.ts'
import { describeExit, memoryHint } from './runEnd.ts'

export interface StartFailure {
  readonly record: PackageRecord
  /** argv that was launched. */
  readonly command: readonly string[]
  readonly error: unknown
  /** How the sandbox ended, or null when it was still alive. */
  readonly exit: SandboxExit | null
  /** What it said last, as a hint. */
  readonly said: string | undefined
}

/** The shell's exit code for a command that it did not find (POSIX 2.8.2). */
const notFound = 127

/** What a start that did not get ready ends with: an exit explains more than the broken handshake that it caused. */
export function toStartError({ record, command, error, exit, said }: StartFailure): PkgdError {
  const withHint = (hint: string | undefined) => ({ cause: error, ...(hint === undefined ? {} : { hint }) })
  if (exit?.kind === 'exit' && exit.code === notFound) {
    return new PkgdError('COMMAND_NOT_FOUND', `The command ${command[0]} of ${record.id} is not in its image`, withHint(said))
  }
  if (exit?.kind === 'oom') {
    return new PkgdError('START_FAILED', `${record.id} ${describeExit(exit, record)} before it was ready`, withHint(memoryHint))
  }
  if (exit) {
    const hint = said ?? 'it said nothing on stderr'
    return new PkgdError('START_FAILED', `${record.id} ${describeExit(exit, record)} before it was ready`, withHint(hint))
  }
  const coded = findCoded(error)
  if (!coded) {
    const why = error instanceof Error ? error.message : String(error)
    return new PkgdError('START_FAILED', `${record.id} could not be started: ${why}`, withHint(said))
  }
  if (said === undefined || (coded.code !== 'HANDSHAKE_TIMEOUT' && coded.code !== 'PROTOCOL_ERROR')) return coded
  return new PkgdError(coded.code, coded.message, { ...withHint(coded.hint ? `${coded.hint}; ${said}` : said), issues: coded.issues })
}
