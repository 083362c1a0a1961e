/** What the daemon sends the npm worker, once. It may hold tokens: it travels over the worker's own channel, never in argv or env. */
export interface NpmWorkerRequest {
  /** Holds the generated package.json; node_modules is made in it. */
  readonly directory: string
  /** Options of npm's own libraries: registry, scopes, tokens, certificates, proxies. */
  readonly options: Readonly<Record<string, unknown>>
  /** npm's content cache. */
  readonly cache: string
  /** Nothing but these versions with this integrity, `name@version` to SRI; null to solve afresh. */
  readonly locked: Readonly<Record<string, string>> | null
  /** Kinds of source allowed besides the registry: `git`, `url`, `file`. */
  readonly allowSources: readonly string[]
  /** Answer from the cache alone. */
  readonly offline: boolean
}

interface InstalledNpmPackage {
  readonly name: string
  readonly version: string
  /** SRI; null for what came inside another package. */
  readonly integrity: string | null
}

export type NpmWorkerReply =
  | { readonly kind: 'stage'; readonly stage: 'solve' | 'extract'; readonly packages?: number }
  | {
      readonly kind: 'done'
      readonly packages: readonly InstalledNpmPackage[]
      /** Packages whose native part was not built, each with the reason. */
      readonly unbuilt: readonly { readonly name: string; readonly version: string; readonly reason: string }[]
    }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly package: string | null }
