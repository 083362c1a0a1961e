import { assertNever, PkgdError } from '../core/errors.ts'
import type { SandboxExit } from '../core/types.ts'
import type { PackageRecord } from '../store/state.ts'
import type { RunEnd } from './restartPolicy.ts'

const mebibyte = 1024 * 1024

/** How it ended, in words that follow the package's name. */
export function describeExit(exit: SandboxExit, record: PackageRecord): string {
  switch (exit.kind) {
    case 'exit':
      return `exited with code ${exit.code}`
    case 'signal':
      return `was killed by ${exit.signal}`
    case 'oom':
      return `was killed for exceeding its memory limit of ${Math.round(record.grants.limits.memoryBytes / mebibyte)}MB`
    default:
      return assertNever(exit)
  }
}

export function describeEnd(end: RunEnd, record: PackageRecord): string {
  switch (end.kind) {
    case 'exited':
      return describeExit(end.exit, record)
    case 'vanished':
      return 'lost its sandbox: it was removed by somebody else'
    case 'unhealthy':
      return 'stopped answering its health checks'
    case 'start-failed':
      return 'did not start'
    default:
      return assertNever(end)
  }
}

export const memoryHint = 'give it more memory: sandbox.memory_limit in its manifest, or --memory at install'

/** What calls get that were under way when a run ended. */
export function toCrashError(record: PackageRecord, end: RunEnd): PkgdError {
  const oom = end.kind === 'exited' && end.exit.kind === 'oom'
  return new PkgdError('PACKAGE_CRASHED', `${record.id} ${describeEnd(end, record)}`, {
    hint: oom ? memoryHint : `see what it said: pkg logs ${record.id}`,
  })
}
