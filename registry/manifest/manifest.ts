import type { PackageType } from '../../daemon/core/types.ts'

/** A manifest after validation, with every default filled in and sizes in bytes, durations in milliseconds. */
export interface Manifest {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly author?: string
  readonly license?: string
  readonly homepage?: string
  readonly keywords: readonly string[]
  readonly type: PackageType
  readonly entry: Entry
  readonly sandbox: SandboxRequest
  readonly config: Readonly<Record<string, ConfigEntry>>
  readonly dependencies: Dependencies
  readonly restart: { readonly policy: 'no' | 'on-failure' | 'always'; readonly maxRetries: number; readonly windowMs: number }
  readonly health: { readonly intervalMs: number; readonly timeoutMs: number; readonly retries: number }
  readonly start: { readonly mode: 'eager' } | { readonly mode: 'on-demand'; readonly idleTimeoutMs: number }
}

/** How the package runs and speaks; which one follows from `type`. */
export type Entry = McpEntry | A2aEntry | HookEntry

interface CommandEntry {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly envRequired: readonly string[]
}

export interface McpEntry extends CommandEntry {
  readonly kind: 'mcp'
  readonly transport:
    | { readonly kind: 'stdio' }
    | { readonly kind: 'streamable-http' | 'sse'; readonly port: number; readonly path: string }
  readonly sessions: 'auto' | 'shared' | 'per-client'
}

export interface SkillDeclaration {
  readonly id: string
  readonly name?: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly inputSchema?: Readonly<Record<string, unknown>>
  readonly idempotent: boolean
}

export interface A2aEntry extends CommandEntry {
  readonly kind: 'a2a'
  readonly port: number
  readonly cardPath: string
  readonly skills: readonly SkillDeclaration[]
  readonly capabilities: { readonly streaming: boolean; readonly pushNotifications: boolean }
  readonly maxConcurrentTasks: number
  /** Tasks in each window, or null for no limit. */
  readonly rateLimit: { readonly count: number; readonly perMs: number } | null
}

export interface HookEntry extends CommandEntry {
  readonly kind: 'hook'
  readonly events: readonly string[]
  readonly mode: 'observe' | 'intercept'
  readonly points: readonly string[]
  readonly packages: readonly string[]
  readonly order: number
  readonly timeoutMs: number
  readonly onError: 'deny' | 'allow'
}

/** A mount's purpose and target; only the user's grant gives it a source. */
export interface MountRequest {
  readonly name: string
  readonly target: string
  readonly readOnly: boolean
  readonly description?: string
}

/** What the package asks of its sandbox. */
export interface SandboxRequest {
  readonly network: false | true | { readonly allow: readonly string[] }
  /** Whether it has a private writable /data. */
  readonly data: boolean
  readonly mounts: readonly MountRequest[]
  readonly memoryBytes: number
  readonly cpus: number
  readonly pids: number
  readonly tmpBytes: number
  readonly image?: string
}

export interface ConfigEntry {
  readonly type: 'string' | 'number' | 'boolean'
  readonly title?: string
  readonly description?: string
  readonly default?: string | number | boolean
  readonly sensitive: boolean
  readonly required: boolean
  /** The environment variable that carries it. */
  readonly env: string
}

export interface Dependencies {
  /** Version range of the runtime, where the manifest names one. */
  readonly python?: string
  readonly node?: string
  /** Requirement strings for pip. */
  readonly pypi: readonly string[]
  /** npm specs, `name@range`. */
  readonly npm: readonly string[]
  readonly sdk?: string
  /** Other pkgd packages by semver range. */
  readonly extensions: Readonly<Record<string, string>>
}

/** Where a manifest came from. `derived` ones get the tightest sandbox. */
export type ManifestOrigin = 'file' | 'package-json-key' | 'derived'
