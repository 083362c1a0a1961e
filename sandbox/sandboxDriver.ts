import type { Duplex } from 'node:stream'
import type { OperationContext } from '../daemon/core/ports.ts'
import type { Limits, MountGrant, NetworkPolicy, SandboxExit } from '../daemon/core/types.ts'

/** What a sandbox runs on: a runtime of pkgd's own, or an image by reference (by digest where it has one). */
export type ImageRequest = { readonly runtime: 'node' | 'python' } | { readonly reference: string }

/** An image that is ready to launch from. */
export interface PreparedImage {
  /** Stable while the content is: an image id, a digest, or the key of a root directory. */
  readonly id: string
  readonly request: ImageRequest
  /** How it came to be here. */
  readonly origin: 'pulled' | 'built' | 'cached'
  /** Versions found inside, e.g. `{ node: "26.10.0" }`. */
  readonly runtimes: Readonly<Record<string, string>>
}

/** What a driver can do, as data: nothing above the port asks which driver it is. */
export interface DriverCapabilities {
  readonly driver: string
  /** Version of the engine or tool behind it. */
  readonly version: string
  /** Which data plane stdio uses. */
  readonly stdio: 'pipes' | 'attach'
  readonly freeze: boolean
  /** Whether host paths can be mounted. */
  readonly localMounts: boolean
  /** Directories of this host that are the engine's own: neither they, nor what is in them, nor what holds them is a mount's source. */
  readonly ownPlaces: readonly string[]
  /** Whether sandboxes outlive the daemon and can be adopted. */
  readonly adoption: boolean
  /** Limits that cannot be enforced here, each with its reason. A launch is refused for these unless the operator allows it. */
  readonly unenforced: Readonly<Partial<Record<LimitName, string>>>
  /** Network modes that can be enforced; an absent one has its reason in `networkRefused`. */
  readonly network: readonly NetworkPolicy['mode'][]
  readonly networkRefused: Readonly<Partial<Record<NetworkPolicy['mode'], string>>>
  /** Remarks for `pkg doctor`. */
  readonly notes: readonly string[]
}

export type LimitName = 'memory' | 'cpu' | 'pids' | 'tmp'

/** What identifies a sandbox to its owner; on the engine they are labels, enough to adopt it without the database. */
export interface SandboxIdentity {
  /** The daemon's id. */
  readonly daemon: string
  readonly packageId: string
  readonly version: string
  /** Hash of the whole launch spec: a sandbox of another hash is not adopted but replaced. */
  readonly spec: string
}

/** Everything a driver needs to start one sandbox. Nothing is optional but what may be truly absent. */
export interface LaunchSpec {
  readonly identity: SandboxIdentity
  readonly image: PreparedImage
  /** Digest of the package's tree in the store; it appears at /app, read-only. */
  readonly tree: string
  /** argv, run in /app. */
  readonly command: readonly string[]
  /** Values reach the package through a file that only its user can read, never through the engine's configuration. */
  readonly env: Readonly<Record<string, string>>
  /** The package's own user and group id on the engine. */
  readonly uid: number
  readonly limits: Limits
  readonly network: NetworkPolicy
  readonly mounts: readonly MountGrant[]
  /** The package's volume, mounted at /data, or null. */
  readonly data: VolumeRef | null
  /** Bounds of the captured stderr, bytes in all. */
  readonly logBytes: number
  /** Limits that the operator lets pass unenforced. */
  readonly allowUnenforced: readonly LimitName[]
}

/** A durable, serializable reference to a sandbox; only its driver reads inside. */
export interface SandboxHandle {
  readonly driver: string
  /** The engine's id of the container, or the driver's own. */
  readonly id: string
  readonly name: string
}

/** A limit as asked, as the engine says it was told, and as the kernel holds it. Null where it is out of reach. */
export interface LimitReading {
  readonly asked: number
  readonly engine: number | null
  readonly effective: number | null
  readonly enforced: boolean
  readonly note?: string
}

/** What was read back after launch. */
export interface SandboxReport {
  readonly limits: Readonly<Record<LimitName, LimitReading>>
  readonly readOnlyRoot: boolean
  readonly capabilities: readonly string[]
  readonly noNewPrivileges: boolean
  readonly seccomp: boolean
  readonly user: string
  readonly init: boolean
  readonly network: NetworkPolicy['mode']
  readonly image: string
}

export type SandboxStatus =
  | { readonly state: 'running'; readonly startedAt: string }
  | { readonly state: 'frozen'; readonly startedAt: string }
  | { readonly state: 'exited'; readonly exit: SandboxExit }

/** A sandbox that exists, told by its labels alone. */
export interface SandboxInfo {
  readonly handle: SandboxHandle
  readonly identity: SandboxIdentity
  readonly status: SandboxStatus
}

/** What happened to a sandbox of ours. `lost` and `found` tell that the engine went away and came back: reconcile by `list`. */
export type SandboxEvent =
  | { readonly kind: 'started' | 'destroyed' | 'frozen' | 'thawed'; readonly handle: SandboxHandle }
  | { readonly kind: 'exited'; readonly handle: SandboxHandle; readonly exit: SandboxExit }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'found' }

export interface SandboxStats {
  readonly memoryBytes: number
  readonly memoryLimitBytes: number
  /** CPU seconds used since launch. */
  readonly cpuSeconds: number
  readonly pids: number
  readonly networkRxBytes: number
  readonly networkTxBytes: number
}

export interface LogEntry {
  /** RFC 3339; the time at which the line was captured. */
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  readonly line: string
}

export interface LogQuery {
  readonly follow: boolean
  /** The last N lines first; all that is kept when undefined. */
  readonly tail?: number
  readonly signal: AbortSignal
}

/**
 * The bytes of a package's stdin and stdout. `read` and `write` obey backpressure; destroying it leaves the package running and its pipes intact.
 * `adopt` is true when a former daemon may have left half a line on either side.
 */
export type StdioChannel = Duplex

/** Where a package listens inside its sandbox. */
export type DialTarget = { readonly port: number } | { readonly socket: string }

/** A private, writable volume of a package. */
export interface VolumeRef {
  readonly name: string
  /** The path on the host where the engine shares this disk, else null. */
  readonly path: string | null
}

/** A command that runs to its end in a box of its own, such as pip. Its output directory is all it may write besides /tmp. */
export interface BuildSpec {
  readonly identity: SandboxIdentity
  readonly image: PreparedImage
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly uid: number
  readonly limits: Limits
  /** Host directories; those not read-only are made writable for `uid`. */
  readonly mounts: readonly MountGrant[]
  /** `host:port` pairs that are all the network there is; empty for none. */
  readonly reach: readonly { readonly host: string; readonly port: number }[]
}

export interface BuildResult {
  readonly exit: SandboxExit
  /** The last 64 KiB of stdout and stderr together. */
  readonly output: string
}

/** Where the store's trees are: the driver turns a digest into a bind mount, a volume or a layer. */
export interface TreeSource {
  /** Absolute path of the tree's directory on this host. */
  locate(digest: string): string
}

/**
 * What makes boxes. One contract suite (test/contract/sandboxDriver.ts) runs on every driver.
 *
 * Errors: DRIVER_UNAVAILABLE, ENGINE_UNREACHABLE, IMAGE_UNAVAILABLE, COMMAND_NOT_FOUND, LIMIT_NOT_ENFORCED, NETWORK_UNSUPPORTED, MOUNT_REFUSED,
 * SANDBOX_NOT_FOUND, DISK_FULL. A failed launch leaves nothing behind.
 */
export interface SandboxDriver extends AsyncDisposable {
  readonly name: string
  capabilities(): Promise<DriverCapabilities>
  /** Pulls or builds the image, or finds it cached. May take minutes; reports stages `pull` or `build`. */
  prepareImage(request: ImageRequest, context: OperationContext): Promise<PreparedImage>
  /** Starts the sandbox and reads its limits back. A limit that was not taken is LIMIT_NOT_ENFORCED and nothing is left. */
  launch(spec: LaunchSpec, context: OperationContext): Promise<{ handle: SandboxHandle; report: SandboxReport }>
  /** The sandbox behind a stored handle, or undefined if it no longer exists. */
  recover(handle: SandboxHandle): Promise<SandboxInfo | undefined>
  /** Every sandbox with this daemon's label, exited ones included. Nothing without the label is ever returned. */
  list(): Promise<SandboxInfo[]>
  /** From now until the signal. Never throws for an engine that went away: it says `lost`, reconnects, says `found`. */
  events(signal: AbortSignal): AsyncIterable<SandboxEvent>
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when it has exited. Already exited is fine. */
  stop(handle: SandboxHandle, graceMs: number): Promise<SandboxExit>
  /** Removes it, running or not, with its network and its run directory. Already gone is fine. Volumes stay. */
  destroy(handle: SandboxHandle): Promise<void>
  inspect(handle: SandboxHandle): Promise<SandboxReport>
  stats(handle: SandboxHandle): Promise<SandboxStats>
  logs(handle: SandboxHandle, query: LogQuery): AsyncIterable<LogEntry>
  freeze(handle: SandboxHandle): Promise<void>
  thaw(handle: SandboxHandle): Promise<void>
  /** At most one channel a sandbox at a time. */
  stdio(handle: SandboxHandle): Promise<StdioChannel>
  dial(handle: SandboxHandle, target: DialTarget): Promise<Duplex>
  runToEnd(spec: BuildSpec, context: OperationContext): Promise<BuildResult>
  volumes: {
    /** Makes it if it is not there; owned by `uid`. */
    ensure(packageId: string, uid: number): Promise<VolumeRef>
    remove(packageId: string): Promise<void>
    list(): Promise<{ packageId: string; name: string }[]>
  }
}
