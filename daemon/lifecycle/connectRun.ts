import { PkgdError } from '../core/errors.ts'
import type { PackageRecord } from '../store/state.ts'
import type { LifecycleDeps } from './lifecycleDeps.ts'
import type { HostSession, PackageHost } from './packageHost.ts'
import type { Run } from './run.ts'
import { withDeadline } from './withDeadline.ts'

/** Errors: TYPE_NOT_HOSTED. */
export function pickHost(hosts: LifecycleDeps['hosts'], record: PackageRecord): PackageHost {
  const host = hosts[record.manifest.type]
  if (!host) {
    throw new PkgdError('TYPE_NOT_HOSTED', `${record.id} is a package of type ${record.manifest.type}, which this daemon does not host`)
  }
  return host
}

export interface ConnectOptions {
  /** What a former daemon stored of this sandbox's conversation; undefined for a new one. */
  readonly session: unknown
  readonly ms: number
  readonly signal: AbortSignal
}

/**
 * Opens the conversation with a run's sandbox; the run's end fails it at once. A session that comes too late is closed.
 * Errors: HANDSHAKE_TIMEOUT, and the host's own.
 */
export async function connectRun(deps: LifecycleDeps, run: Run, { session, ms, signal }: ConnectOptions): Promise<HostSession> {
  const { driver, state, clock, hosts } = deps
  const { record, handle, over, redactor } = run
  const host = pickHost(hosts, record)
  const late = new Error('Nobody waits for this session any more')
  return withDeadline(
    {
      clock,
      ms,
      signal: AbortSignal.any([signal, over.signal]),
      expired: () => new PkgdError('HANDSHAKE_TIMEOUT', `${record.id} did not become ready within ${ms / 1000} s`),
      late: (unwanted) => void unwanted.close(late),
    },
    async (own) => {
      const connecting = host.connect(
        {
          record,
          stdio: () => driver.stdio(handle),
          dial: (target) => driver.dial(handle, target),
          session,
          saveSession: (value) => {
            if (!over.signal.aborted) state.sandboxes.setSession(record.id, value)
          },
          signal: over.signal,
          redactor,
        },
        own,
      )
      return connecting.catch((error: unknown) => {
        throw redactor.error(error)
      })
    },
  )
}
