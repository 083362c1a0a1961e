import type { LockedPackage } from '../../registry/lockfile/lockfile.ts'
import type { Manifest, ManifestOrigin } from '../../registry/manifest/manifest.ts'
import type { Resolution } from '../../registry/resolve/resolution.ts'
import type { SandboxHandle, SandboxReport } from '../../sandbox/sandboxDriver.ts'
import type { CloudEvent } from '../core/events.ts'
import type { ErrorRecord, Health, Limits, MountGrant, NetworkPolicy, PackageState } from '../core/types.ts'

/** What the user granted and overrode at install; the sandbox a package really gets. */
export interface Grants {
  readonly network: NetworkPolicy
  readonly data: boolean
  readonly mounts: readonly MountGrant[]
  readonly limits: Limits
}

/** One installed package. */
export interface PackageRecord {
  readonly id: string
  readonly version: string
  readonly manifest: Manifest
  readonly manifestOrigin: ManifestOrigin
  readonly resolution: Resolution
  /** Digest of its tree in the store. */
  readonly tree: string
  /** argv, arguments of the user's included. */
  readonly command: readonly string[]
  /** Values the user gave, secrets excluded. */
  readonly env: Readonly<Record<string, string>>
  /** Names of values that are kept in the secrets table. */
  readonly secrets: readonly string[]
  readonly grants: Grants
  /** The uid its sandboxes run as: its own, kept over upgrades. */
  readonly uid: number
  readonly installedAt: string
}

/** What should be and what is, apart from the installed facts. */
export interface PackageStatus {
  /** `running` survives a daemon restart; `stopped` is a manual stop that stays. */
  readonly desired: 'running' | 'stopped'
  readonly state: PackageState
  readonly reason: string | null
  readonly health: Health
  readonly lastError: ErrorRecord | null
  /** RFC 3339 times of recent restarts, for the restart window. */
  readonly restarts: readonly string[]
  /** Whether this run was ready once: only such a package is restarted. */
  readonly wasReady: boolean
  readonly since: string
}

/** A live sandbox and the MCP session over it, durable so that the next daemon can adopt both. */
export interface SandboxRecord {
  readonly packageId: string
  readonly handle: SandboxHandle
  readonly spec: string
  readonly report: SandboxReport
  readonly launchedAt: string
  /** What the host needs to go on without a handshake (for MCP: era, version, capabilities, instructions, subscriptions). Null before readiness. */
  readonly session: unknown
}

/** What was learnt of a package version, kept while the tree is. `value` is the host's own. */
export interface CatalogRecord {
  readonly packageId: string
  readonly tree: string
  readonly value: unknown
}

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

export interface JobRecord {
  readonly id: string
  readonly kind: string
  /** The package or spec it is about. */
  readonly subject: string
  readonly state: JobState
  readonly stage: string | null
  readonly message: string | null
  /** 0..1, or null where unknown. */
  readonly progress: number | null
  readonly error: (ErrorRecord & { readonly issues?: readonly unknown[] }) | null
  readonly result: unknown
  readonly createdAt: string
  readonly updatedAt: string
}

/** What an install is about to change, written before it changes anything, so that the next start can undo it. */
export interface SagaRecord {
  readonly jobId: string
  readonly kind: string
  readonly step: string
  readonly data: unknown
}

/**
 * All durable state, one SQLite file in WAL, one writer. Synchronous: each call is one transaction, and `transaction` makes several one.
 * `durable: true` waits for the disk (FULL); without it a power cut may lose the last writes, a process's death never.
 */
export interface State extends Disposable {
  readonly daemonId: string
  /** True when a damaged database was set aside at opening: nothing is swept until `pkg doctor --repair`. */
  readonly restored: boolean
  /** Ends `restored`: the operator has looked. */
  markRepaired(): void
  transaction<T>(body: () => T, options?: { durable?: boolean }): T
  packages: {
    list(): PackageRecord[]
    get(id: string): PackageRecord | undefined
    put(record: PackageRecord): void
    remove(id: string): void
    /** A uid that no package has or had, from this daemon's own range at or above `configured`; a package keeps the one it has. */
    allocateUid(id: string, configured: number): number
  }
  statuses: {
    get(id: string): PackageStatus | undefined
    put(id: string, status: PackageStatus): void
    remove(id: string): void
  }
  sandboxes: {
    list(): SandboxRecord[]
    get(packageId: string): SandboxRecord | undefined
    put(record: SandboxRecord): void
    setSession(packageId: string, session: unknown): void
    remove(packageId: string): void
  }
  catalogs: {
    get(packageId: string, tree: string): CatalogRecord | undefined
    put(record: CatalogRecord): void
    remove(packageId: string): void
  }
  /** What `pkgd.lock` says of each installed package, so that a damaged lockfile loses nothing. An entry goes with its package. */
  locks: {
    list(): Record<string, LockedPackage>
    put(packageId: string, entry: LockedPackage): void
  }
  secrets: {
    get(packageId: string, name: string): string | undefined
    put(packageId: string, name: string, value: string): void
    remove(packageId: string, name: string): void
    removeAll(packageId: string): void
  }
  jobs: {
    list(query: { limit: number; cursor?: string }): JobRecord[]
    get(id: string): JobRecord | undefined
    put(job: JobRecord): void
    /** Marks what a dead daemon left queued or running as failed. Resolves with those jobs. */
    failUnfinished(error: ErrorRecord): JobRecord[]
    /** Removes the oldest finished jobs beyond that many. */
    prune(keepAtMost: number): void
  }
  sagas: {
    list(): SagaRecord[]
    put(record: SagaRecord): void
    remove(jobId: string): void
  }
  events: {
    /** Stores and numbers it. */
    append(event: Omit<CloudEvent, 'id'>): CloudEvent
    since(id: string, limit: number): CloudEvent[]
    /** Those before `id`, the newest first. */
    before(id: string, limit: number): CloudEvent[]
    last(): string
    prune(olderThan: string, keepAtMost: number): void
  }
  /** Lifts a key-value pair that belongs to nobody else, e.g. the chosen driver. */
  meta: { get(key: string): string | undefined; put(key: string, value: string): void }
}
