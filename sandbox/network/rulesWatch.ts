import type { Clock, Logger } from '../../daemon/core/ports.ts'

/**
 * How often the rules are looked at. Nothing tells of their end: the kernel announces changes of nftables over netlink, which Node does not speak, and those of
 * legacy tables not at all. Two readings of the tables cost a few milliseconds, and are made only while there is a package with a network.
 */
const intervalMs = 15_000

export interface RulesWatch {
  /** Goes on, or begins, while `isNeeded`. */
  begin(): void
  end(): void
}

export interface RulesWatchDeps {
  readonly clock: Clock
  readonly log: Logger
  isNeeded(): boolean
  /** Puts back what is not there. */
  check(): Promise<void>
}

export function createRulesWatch({ clock, log, isNeeded, check }: RulesWatchDeps): RulesWatch {
  let cancel: (() => void) | undefined

  const begin = () => {
    cancel ??= clock.after(intervalMs, () => {
      cancel = undefined
      if (!isNeeded()) return
      check()
        .catch((error: unknown) => log.warn('The packet filter rules of packages could not be looked at', { error: String(error) }))
        .finally(begin)
    })
  }
  return {
    begin,
    end() {
      cancel?.()
      cancel = undefined
    },
  }
}
