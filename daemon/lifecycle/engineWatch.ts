import type { SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import type { Logger } from '../core/ports.ts'
import type { OwnSandboxEvent } from './takeSandboxEvent.ts'

/** Follows the driver's events for as long as the daemon lives. */
export interface EngineWatch extends AsyncDisposable {
  start(): void
  /** Whether the engine is away. */
  readonly lost: boolean
}

export interface EngineWatchDeps {
  readonly driver: SandboxDriver
  readonly log: Logger
  readonly onLost: (reason: string) => void
  readonly onFound: () => void
  readonly onSandbox: (event: OwnSandboxEvent) => void
}

export function createEngineWatch({ driver, log, onLost, onFound, onSandbox }: EngineWatchDeps): EngineWatch {
  const over = new AbortController()
  let lost = false
  let following: Promise<void> = Promise.resolve()

  const lose = (reason: string) => {
    if (lost) return
    lost = true
    log.warn('the engine is away', { reason })
    onLost(reason)
  }
  const follow = async () => {
    for await (const event of driver.events(over.signal)) {
      try {
        if (event.kind === 'lost') lose(event.reason)
        else if (event.kind === 'found') {
          lost = false
          log.info('the engine is back')
          onFound()
        } else onSandbox(event)
      } catch (error) {
        // One event that cannot be dealt with must not end the watch over all others.
        log.error('an engine event could not be dealt with', { event: event.kind, error })
      }
    }
  }

  return {
    start() {
      following = follow().catch((error: unknown) => {
        if (!over.signal.aborted) log.error('the engine is not watched any more', { error })
      })
    },
    get lost() {
      return lost
    },
    async [Symbol.asyncDispose]() {
      over.abort()
      await following
    },
  }
}
