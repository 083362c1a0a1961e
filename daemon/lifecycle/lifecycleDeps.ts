import type { PackageStore } from '../../registry/store/packageStore.ts'
import type { ImageRequest, SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import type { Config } from '../config/config.ts'
import type { Clock, Logger, Random } from '../core/ports.ts'
import type { PackageType } from '../core/types.ts'
import type { EventBus } from '../events/eventBus.ts'
import type { PackageRecord, State } from '../store/state.ts'
import type { PackageHost } from './packageHost.ts'

/** What to run, worked out of an installed package and the user's values. */
export interface LaunchPlan {
  readonly image: ImageRequest
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Errors: ENV_MISSING, naming each value and how to set it. */
export type PlanLaunch = (record: PackageRecord) => LaunchPlan | Promise<LaunchPlan>

/** The part of the configuration that lifecycle reads. */
export interface LifecycleConfig extends Pick<Config, 'lifecycle'> {
  readonly limits: Pick<Config['limits'], 'logBytes' | 'allowUnenforced'>
}

/** What lifecycle is made of. */
export interface LifecycleDeps {
  readonly state: State
  readonly driver: SandboxDriver
  readonly store: Pick<PackageStore, 'verify'>
  /** Who speaks each type's protocol; null: this daemon does not host it. */
  readonly hosts: Readonly<Record<PackageType, PackageHost | null>>
  readonly bus: EventBus
  /** The configuration as it is now. */
  readonly config: () => LifecycleConfig
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly planLaunch: PlanLaunch
}
