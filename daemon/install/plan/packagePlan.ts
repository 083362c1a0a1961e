import type { LockedPackage } from '../../../registry/lockfile/lockfile.ts'
import type { PlannedPackage } from '../../../registry/resolve/resolution.ts'
import type { PreparedImage } from '../../../sandbox/sandboxDriver.ts'
import type { Grants, PackageRecord } from '../../store/state.ts'

/** All that is decided about one package before anything is written. */
export interface PackagePlan {
  readonly planned: PlannedPackage
  readonly grants: Grants
  readonly image: PreparedImage
  /** argv, the user's arguments included. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** New values of secrets. */
  readonly secrets: Readonly<Record<string, string>>
  /** Of all its secrets, old and new. */
  readonly secretNames: readonly string[]
  /** What is installed under this id. */
  readonly former: PackageRecord | undefined
  /** What of an earlier install it has still, as the result says it. */
  readonly kept: readonly string[]
  /** What must come of it when the lockfile is installed from. */
  readonly locked: LockedPackage | null
  /** Its tree and locked dependencies when they are in the store already. */
  readonly present: { readonly tree: string; readonly dependencies: Readonly<Record<string, string>> } | null
}

export interface InstallPlan {
  readonly root: string
  /** In the order in which they are installed. */
  readonly packages: readonly PackagePlan[]
  /** Ids that are there already as they should be. */
  readonly unchanged: readonly string[]
  /** What each id, installed or unchanged, has still of an earlier install. */
  readonly kept: ReadonlyMap<string, readonly string[]>
}
