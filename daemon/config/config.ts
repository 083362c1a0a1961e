/** `$PKGD_HOME/pkgd.yaml` after validation, defaults filled in, sizes in bytes, durations in milliseconds. */
export interface Config {
  readonly port: number
  readonly log: 'silent' | 'debug' | 'info' | 'warn' | 'error'
  readonly driver: 'auto' | 'docker' | 'bubblewrap'
  readonly limits: {
    /** The ceiling for one package. */
    readonly max: { readonly memoryBytes: number; readonly cpus: number; readonly pids: number; readonly tmpBytes: number }
    readonly allowUnenforced: readonly ('memory' | 'cpu' | 'pids' | 'tmp')[]
    /** Largest protocol message, bytes. */
    readonly frameBytes: number
    /** Largest unpacked archive, bytes, and its most entries. */
    readonly archiveBytes: number
    readonly archiveEntries: number
    /** stderr kept a package, bytes. */
    readonly logBytes: number
  }
  readonly network: {
    /** CIDR that package networks are cut from. */
    readonly pool: string
    /** Private ranges (CIDR) that `network: true` may reach all the same. */
    readonly allowPrivate: readonly string[]
    /** Resolver to ask, or the host's own when empty. */
    readonly resolvers: readonly string[]
  }
  readonly install: {
    /** Dependency sources allowed besides the registries: `git`, `url`, `file`. */
    readonly allowSources: readonly string[]
    /** Whether pip may build from source (in the build sandbox). */
    readonly sdist: boolean
    readonly timeoutMs: number
  }
  /** Where ids are looked up: folders and npm-compatible registries, in order. */
  readonly registries: readonly (
    | { readonly kind: 'folder'; readonly path: string }
    | { readonly kind: 'npm'; readonly url: string; readonly scope: string | null }
  )[]
  readonly images: Readonly<Partial<Record<'node' | 'python', string>>>
  readonly lifecycle: {
    /** Starts and stops at once. */
    readonly parallel: number
    readonly pullTimeoutMs: number
    readonly bootTimeoutMs: number
    readonly handshakeTimeoutMs: number
    readonly stopGraceMs: number
    /** A run longer than this resets the restart count. */
    readonly stableMs: number
  }
  readonly calls: { readonly timeoutMs: number }
  readonly events: { readonly keepMs: number; readonly keepAtMost: number }
  /** First uid of the pool that packages get theirs from. */
  readonly firstUid: number
}
