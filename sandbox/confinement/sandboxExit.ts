import { constants } from 'node:os'
import type { SandboxExit } from '../../daemon/core/types.ts'

/** What the engine says of a container that ended. */
export interface EndedState {
  readonly exitCode: number
  readonly oomKilled: boolean
  /** RFC 3339. */
  readonly finishedAt: string
  /** The driver itself sent SIGKILL, so that a memory kill earlier in its life (of a child, say) was not what ended it. */
  readonly killedByUs?: boolean
}

const names = new Map<number, string>(Object.entries(constants.signals).map(([name, number]) => [number, name]))
// Where two names share a number, the usual one.
for (const name of ['SIGABRT', 'SIGIO', 'SIGCHLD'] as const) names.set(constants.signals[name], name)

const sigkill = 128 + constants.signals.SIGKILL

/**
 * How it ended. PID 1 is an init, which reports a child killed by signal n as 128 + n. The memory limit's kill is SIGKILL as well, told by the
 * engine's own flag; the flag alone is not enough, since a child may be killed in a sandbox that goes on and ends otherwise.
 */
export function toSandboxExit({ exitCode, oomKilled, finishedAt, killedByUs = false }: EndedState): SandboxExit {
  if (oomKilled && exitCode === sigkill && !killedByUs) return { kind: 'oom', at: finishedAt }
  const signal = exitCode > 128 ? names.get(exitCode - 128) : undefined
  if (signal !== undefined) return { kind: 'signal', signal, at: finishedAt }
  return { kind: 'exit', code: exitCode, at: finishedAt }
}
