import { assertNever, PkgdError } from '../core/errors.ts'
import type { PackageView } from './lifecycle.ts'
import type { PackageSupervisor } from './packageSupervisor.ts'

export interface EnsureDeps {
  readonly find: (id: string) => PackageView
  readonly supervisorOf: (id: string) => PackageSupervisor
  readonly wake: (id: string) => Promise<void>
  /** Aborted when the daemon ends. */
  readonly closing: AbortSignal
}

/** Resolves when the package answers: a sleeping one is woken, one that is on its way is waited for. Errors: NOT_RUNNING, what a wake failed with, the signal's reason. */
export async function ensureRunning({ find, supervisorOf, wake, closing }: EnsureDeps, id: string, signal: AbortSignal): Promise<void> {
  const ready = supervisorOf(id)
  if (ready.isReady()) return ready.touch()
  const either = AbortSignal.any([signal, closing])
  for (;;) {
    either.throwIfAborted()
    const { status } = find(id)
    const supervisor = supervisorOf(id)
    switch (status.state) {
      case 'running':
        if (supervisor.isReady()) return supervisor.touch()
        await supervisor.changed(either)
        break
      case 'asleep':
        // A stop that could not be finished while the engine was away.
        if (status.desired === 'stopped') throw toNotRunning(id, status)
        await untilAborted(wake(id), either)
        break
      case 'frozen':
        if (supervisor.live()) await supervisor.thaw()
        if (find(id).status.state === 'frozen') await supervisor.changed(either)
        break
      case 'stopping':
        if (status.desired === 'stopped') throw toNotRunning(id, status)
        await supervisor.changed(either)
        break
      case 'starting':
      case 'backoff':
        await supervisor.changed(either)
        break
      case 'stopped':
      case 'failed':
        throw toNotRunning(id, status)
      default:
        assertNever(status.state)
    }
  }
}

function toNotRunning(id: string, { state, lastError }: PackageView['status']): PkgdError {
  const why = state === 'failed' && lastError ? `: ${lastError.message}` : ''
  return new PkgdError('NOT_RUNNING', `${id} is ${state === 'failed' ? 'failed' : 'stopped'}${why}`, { hint: `pkg start ${id}` })
}

async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
