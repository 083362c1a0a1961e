import type { Clock } from '../core/ports.ts'
import { startHealthMonitor } from './health.ts'
import { startIdleTimer } from './idleTimer.ts'
import type { HostSession } from './packageHost.ts'
import type { Run } from './run.ts'

export interface RunWatchOptions {
  readonly clock: Clock
  readonly run: Run
  readonly session: HostSession
  readonly onHealthy: () => void
  readonly onProbeFailed: (error: unknown) => void
  /** The probes failed as often as the manifest lets them. */
  readonly onUnhealthy: () => void
  /** On demand only: nobody needed it for its idle timeout. */
  readonly onIdle: () => void
  /** The conversation ended though nothing was heard of the sandbox's end. */
  readonly onSilent: (reason: Error) => void
}

/** All that is watched about a run while it is ready. */
export interface RunWatch extends Disposable {
  touch(): void
  /** On demand only: whether nobody needs it. */
  isIdle(): boolean
  /** A frozen package cannot answer. */
  pause(): void
  resume(): void
}

export function watchRun(options: RunWatchOptions): RunWatch {
  const { clock, run, session } = options
  const { manifest } = run.record
  const watchHealth = () =>
    startHealthMonitor({
      clock,
      settings: manifest.health,
      probe: (signal) => session.probe(signal),
      onHealthy: options.onHealthy,
      onFailure: (error, final) => (final ? options.onUnhealthy() : options.onProbeFailed(error)),
    })
  let over = false
  let health: Disposable | null = watchHealth()
  const idle =
    manifest.start.mode === 'on-demand'
      ? startIdleTimer({
          clock,
          idleMs: manifest.start.idleTimeoutMs,
          isBusy: () => (session.pending ?? 0) > 0,
          onIdle: options.onIdle,
        })
      : null
  void session.closed?.then((reason) => over || options.onSilent(reason))

  const pause = () => {
    health?.[Symbol.dispose]()
    health = null
  }
  return {
    touch: () => idle?.touch(),
    isIdle: () => idle?.isIdle() ?? false,
    pause,
    resume() {
      if (!over) health ??= watchHealth()
    },
    [Symbol.dispose]() {
      over = true
      pause()
      idle?.[Symbol.dispose]()
    },
  }
}
