/** The three types of package. */
export type PackageType = 'mcp-server' | 'a2a-agent' | 'internal-hook'

/** A package's lifecycle state; the table of transitions is in lifecycle/packageState.ts. */
export type PackageState = 'stopped' | 'asleep' | 'starting' | 'running' | 'frozen' | 'backoff' | 'stopping' | 'failed'

/** Apart from the state: whether the package answers. */
export type Health = 'unknown' | 'healthy' | 'unhealthy'

/** The resource limits of one sandbox. None is optional: defaults are filled in from the manifest's. */
export interface Limits {
  /** Memory and swap together, bytes. */
  readonly memoryBytes: number
  /** CPUs, fractions allowed. */
  readonly cpus: number
  readonly pids: number
  /** Size of the tmpfs on /tmp, bytes. */
  readonly tmpBytes: number
}

/** What a package may reach. `internet` is the public internet only; `allow` is these names and ports and nothing else. */
export type NetworkPolicy =
  | { readonly mode: 'none' }
  | { readonly mode: 'internet' }
  | { readonly mode: 'allow'; readonly targets: readonly { readonly host: string; readonly port: number }[] }

/** A host path that the user granted. `source` is absolute on the host, `target` absolute in the sandbox. */
export interface MountGrant {
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

/** How a sandbox ended. With `oom` the kernel killed it for its memory limit; `signal` is a name such as SIGKILL. */
export type SandboxExit =
  | { readonly kind: 'exit'; readonly code: number; readonly at: string }
  | { readonly kind: 'signal'; readonly signal: string; readonly at: string }
  | { readonly kind: 'oom'; readonly at: string }

/** An error as it is kept and shown. */
export interface ErrorRecord {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly at: string
}
