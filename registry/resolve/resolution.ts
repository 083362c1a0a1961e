import type { OperationContext } from '../../daemon/core/ports.ts'
import type { Manifest, ManifestOrigin } from '../manifest/manifest.ts'

/** What the user asked for, parsed from a spec and not yet looked up. */
export type Source =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'archive'; readonly path: string }
  | { readonly kind: 'npm'; readonly name: string; readonly range: string }
  | { readonly kind: 'pypi'; readonly name: string; readonly range: string }
  | { readonly kind: 'git'; readonly url: string; readonly ref: string | null }
  | { readonly kind: 'https'; readonly url: string; readonly integrity: string | null }
  /** An id with a range, looked up in the configured registries. */
  | { readonly kind: 'registry'; readonly id: string; readonly range: string }

/** Exactly what will be fetched: written to the lockfile, enough to fetch the same bytes again. `integrity` is SRI. */
export type Resolution =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'archive'; readonly path: string; readonly integrity: string }
  | { readonly kind: 'npm'; readonly name: string; readonly version: string; readonly tarball: string; readonly integrity: string }
  | { readonly kind: 'pypi'; readonly name: string; readonly version: string; readonly url: string; readonly integrity: string }
  | { readonly kind: 'git'; readonly url: string; readonly commit: string }
  | { readonly kind: 'https'; readonly url: string; readonly integrity: string }

/** A package that was looked up: which bytes, and the manifest they carry. */
export interface Candidate {
  readonly resolution: Resolution
  readonly manifest: Manifest
  readonly manifestOrigin: ManifestOrigin
  /** Whether its own files are the resolution's content (false: an npm or PyPI package that is installed as a dependency of a generated project). */
  readonly layout: 'files' | 'npm-project' | 'pypi-project'
}

/** One node of a plan. */
export interface PlannedPackage extends Candidate {
  /** Ids of the extensions it needs, all of them in the plan or installed. */
  readonly needs: readonly string[]
  /** `install`: not there yet; `replace`: another version is installed; `keep`: this very version is. */
  readonly action: 'install' | 'replace' | 'keep'
}

/** In dependency order: what is needed stands before who needs it. Deterministic for the same inputs. */
export interface Plan {
  readonly root: string
  readonly packages: readonly PlannedPackage[]
}

/** What is installed, as far as planning needs it. */
export interface InstalledPackage {
  readonly id: string
  readonly version: string
  readonly resolution: Resolution
  readonly manifest: Manifest
  readonly manifestOrigin?: ManifestOrigin
}

export interface Resolver {
  /**
   * Looks a source up. The folder of an archive, git or https source is fetched into a scratch directory to read its manifest.
   * Errors: SOURCE_NOT_FOUND, PACKAGE_NOT_FOUND, VERSION_NOT_FOUND, MANIFEST_MISSING, MANIFEST_INVALID, INTEGRITY_MISMATCH, ARCHIVE_*, REGISTRY_UNREACHABLE.
   */
  resolve(source: Source, context: OperationContext): Promise<Candidate>
  /** All versions of an id in the configured registries, newest first, for the graph. */
  versions(id: string, context: OperationContext): Promise<Candidate[]>
}

/** One row of `pkg search`. */
export interface SearchResult {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly type: string
  readonly description: string
  /** The spec that installs it. */
  readonly spec: string
  /** Which registry it was found in. */
  readonly registry: string
}
