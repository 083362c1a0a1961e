import type { Manifest } from '../../registry/manifest/manifest.ts'
import type { Clock } from '../core/ports.ts'
import { withDeadline } from './withDeadline.ts'

export interface HealthOptions {
  readonly clock: Clock
  readonly settings: Manifest['health']
  /** Rejects when the package does not answer. */
  readonly probe: (signal: AbortSignal) => Promise<void>
  readonly onHealthy: () => void
  /** Called at each failed probe; `final` at the one after which it is given up, which is the last call. */
  readonly onFailure: (error: unknown, final: boolean) => void
}

/** Probes at the interval until it is disposed or `retries` probes in a row have failed. */
export function startHealthMonitor({ clock, settings, probe, onHealthy, onFailure }: HealthOptions): Disposable {
  const over = new AbortController()
  let failures = 0
  let cancel = () => {}

  const check = async () => {
    try {
      const expired = () => new Error(`No answer within ${settings.timeoutMs} ms`)
      await withDeadline({ clock, ms: settings.timeoutMs, signal: over.signal, expired }, probe)
      if (over.signal.aborted) return
      failures = 0
      onHealthy()
    } catch (error) {
      if (over.signal.aborted) return
      failures++
      const final = failures >= settings.retries
      onFailure(error, final)
      if (final) return
    }
    schedule()
  }
  const schedule = () => {
    cancel = clock.after(settings.intervalMs, () => void check())
  }
  schedule()

  return {
    [Symbol.dispose]() {
      over.abort(new Error('The run is over'))
      cancel()
    },
  }
}
