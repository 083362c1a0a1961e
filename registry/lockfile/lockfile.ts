import type { Resolution } from '../resolve/resolution.ts'

/** One installed package in `pkgd.lock`. Keys in the file are snake_case, ids sorted. */
export interface LockedPackage {
  readonly version: string
  readonly resolution: Resolution
  /** Digest of the installed tree, dependencies included. */
  readonly tree: string
  /** Locked versions of its npm and PyPI dependencies: `npm:name@version` or `pypi:name@version` to SRI. */
  readonly dependencies: Readonly<Record<string, string>>
  /** Extensions it needs: id to range. */
  readonly extensions: Readonly<Record<string, string>>
}

export interface Lockfile {
  readonly lockfileVersion: 1
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export const emptyLockfile: Lockfile = { lockfileVersion: 1, packages: {} }
