import type { Lockfile } from '../lockfile/lockfile.ts'
import type { Candidate, InstalledPackage } from './resolution.ts'

/** What a graph is planned from. */
export interface GraphRequest {
  /** What is to be installed: its version is fixed. */
  readonly root: Candidate
  readonly installed: readonly InstalledPackage[]
  /** All versions of an id, in any order; PACKAGE_NOT_FOUND counts as none. Asked only where what is installed will not do. */
  readonly candidates: (id: string) => Promise<readonly Candidate[]>
  /** Versions in it are preferred to newer ones. */
  readonly lock?: Lockfile
}
