import type { OperationContext } from '../core/ports.ts'
import type { NetworkPolicy } from '../core/types.ts'
import type { PackageView } from '../lifecycle/lifecycle.ts'

/** The manifest's `sandbox` shape as the user grants or overrides it; what is absent stays as the manifest asks. */
export interface Permissions {
  readonly network?: NetworkPolicy
  readonly filesystem?: boolean
  /** All the mounts it gets, in place of those that an earlier install granted; absent, those stay. */
  readonly mounts?: readonly { readonly source: string; readonly target: string; readonly readOnly: boolean }[]
  readonly memoryBytes?: number
  readonly cpus?: number
  readonly pids?: number
  readonly tmpBytes?: number
}

export interface InstallRequest {
  /** Paths in it are absolute. */
  readonly spec: string
  readonly integrity?: string
  /** In place of those of an earlier install; none: those stay. */
  readonly args: readonly string[]
  /** Over those of an earlier install, name by name; null takes one away. A name is a value in the open or a secret, as it was given last. */
  readonly env: Readonly<Record<string, string | null>>
  readonly secrets: Readonly<Record<string, string | null>>
  readonly permissions: Permissions
  /** Grants whatever the manifests ask, except a mount's source. */
  readonly consent: boolean
  readonly start: boolean
  /** Install exactly what pkgd.lock says. */
  readonly frozen: boolean
}

/** What a package asks beyond the default sandbox, one line each. */
export interface PermissionRequest {
  readonly packageId: string
  /** `source`: it takes the place of a package of the same id from elsewhere. */
  readonly kind: 'source' | 'network' | 'data' | 'mount' | 'memory' | 'cpu' | 'pids' | 'tmp' | 'image'
  readonly text: string
}

export interface InstallResult {
  readonly package: PackageView
  /** Ids in the order they were installed, dependencies first. */
  readonly installed: readonly string[]
  readonly unchanged: readonly string[]
  /** What the package still has of an earlier install, a line each, without values: `env UNITS`, `mount /a:/docs:ro`. */
  readonly kept: readonly string[]
}

/** Installs and uninstalls as sagas: what fails is undone in reverse, and what a death left is undone at the next start. */
export interface Installer {
  /** Plans and checks consent and ceilings, writes nothing. Errors of the manifest, the graph, CONSENT_REQUIRED (issues list the requests), LIMIT_ABOVE_CEILING come from here. */
  install(request: InstallRequest, context: OperationContext & { readonly jobId: string }): Promise<InstallResult>
  /** Installs everything in pkgd.lock. */
  installLocked(
    request: Pick<InstallRequest, 'consent' | 'start'>,
    context: OperationContext & { readonly jobId: string },
  ): Promise<readonly InstallResult[]>
  /** An id that is not installed but left data is one to purge. Errors: PACKAGE_NOT_FOUND, DEPENDENTS_EXIST. */
  uninstall(
    id: string,
    options: { readonly purge: boolean },
    context: OperationContext & { readonly jobId: string },
  ): Promise<{ readonly id: string; readonly keptData: string | null }>
  /** Whether there is data of a package of this id, installed or not. */
  keepsData(id: string): Promise<boolean>
  /** Undoes what a dead daemon left half done. Called once at start, before lifecycle opens. */
  recover(): Promise<readonly string[]>
}
