import type { Remote } from '../../registry/fetch/createRemote.ts'
import type { FetchInto } from '../../registry/fetch/fetcher.ts'
import type { Resolver } from '../../registry/resolve/resolution.ts'
import type { PackageStore } from '../../registry/store/packageStore.ts'
import type { SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import type { Config } from '../config/config.ts'
import type { Home } from '../core/home.ts'
import type { Clock, Logger } from '../core/ports.ts'
import type { PackageType } from '../core/types.ts'
import type { EventBus } from '../events/eventBus.ts'
import type { KeyedLock } from '../lifecycle/keyedLock.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { State } from '../store/state.ts'

export interface InstallerDeps {
  readonly state: State
  readonly home: Home
  /** The configuration as it is now: it is re-read when it changes. */
  readonly config: () => Config
  readonly lifecycle: Pick<Lifecycle, 'get' | 'start' | 'withStopped' | 'added' | 'removed'>
  readonly driver: Pick<SandboxDriver, 'capabilities' | 'prepareImage' | 'runToEnd' | 'volumes'>
  readonly store: PackageStore
  readonly resolver: Resolver
  readonly fetchInto: FetchInto
  readonly events: Pick<EventBus, 'publish'>
  /** Types of package that this daemon has a host for. */
  readonly hosted: ReadonlySet<PackageType>
  /** The way out, with the user's own npm configuration. */
  readonly remote: Pick<Remote, 'readNpmConfig' | 'client' | 'metadata'>
  /** Where pip's configuration is looked up besides its files; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  readonly clock: Clock
}

/** What the parts of one installer share. */
export interface InstallerParts extends InstallerDeps {
  /** One operation a package at a time, and one at a time at the lockfile. */
  readonly locks: KeyedLock
}
