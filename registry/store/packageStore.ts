/** One file or link of a recorded tree. Directories are implied. */
export interface TreeEntry {
  /** Relative POSIX path. */
  readonly path: string
  readonly kind: 'file' | 'link'
  readonly mode: number
  readonly size: number
  /** sha512 hex of the content, or of the link's target. */
  readonly hash: string
}

/** A directory being filled; it becomes part of the store by `commit` and is gone otherwise. */
export interface Staging {
  readonly directory: string
  /** Makes the tree read-only, hashes it, renames it into the store. The same content again is the same digest and no second copy. */
  commit(): Promise<{ digest: string; bytes: number; files: number }>
  /** Removes it. After `commit` it does nothing. */
  discard(): Promise<void>
}

/** A tree that no longer is what was recorded. */
export interface TreeDifference {
  readonly path: string
  readonly problem: 'missing' | 'added' | 'changed'
}

/** The content-addressed store: `$PKGD_HOME/store/<digest>/`. Digests are `sha512-<hex>`, of the sorted list of entries. */
export interface PackageStore {
  stage(): Promise<Staging>
  has(digest: string): Promise<boolean>
  locate(digest: string): string
  /**
   * Compares the tree with its record. `quick` compares path, size, mode, inode, mtime and ctime and hashes only what differs (before each start);
   * `full` hashes everything (`pkg doctor --verify`). Resolves with the differences, none when it is intact.
   */
  verify(digest: string, depth: 'quick' | 'full'): Promise<TreeDifference[]>
  /** Takes it out of the store at once; its files are torn down while nobody waits. */
  remove(digest: string): Promise<void>
  list(): Promise<string[]>
  /** Removes, as `remove` does, stagings that a dead process left and trees that are not in `keep`. Resolves with what was removed. */
  sweep(keep: ReadonlySet<string>): Promise<string[]>
  /** Resolves when the files of all that was removed are gone. A process that ends before leaves them to the next one's `sweep`. */
  settled(): Promise<void>
}
