/** A manifest as it is written, once the schema has accepted it. Keys that begin with `x-` are the author's own and not listed. */
export interface ManifestFile {
  readonly $schema?: string
  readonly id: string
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly author?: string
  readonly license?: string
  readonly homepage?: string
  readonly keywords?: readonly string[]
  readonly type: 'mcp-server' | 'a2a-agent' | 'internal-hook' | 'internal'
  readonly mcp?: McpSection
  readonly a2a?: A2aSection
  readonly hook?: HookSection
  readonly sandbox?: SandboxSection
  readonly config?: Readonly<Record<string, ConfigSection>>
  readonly dependencies?: DependenciesSection
  readonly restart?: { readonly policy?: 'no' | 'on-failure' | 'always'; readonly max_retries?: number; readonly window?: string }
  readonly health?: { readonly interval?: string; readonly timeout?: string; readonly retries?: number }
  readonly start?: 'eager' | 'on-demand'
  readonly idle_timeout?: string
}

export interface CommandSection {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly env_required?: readonly string[]
}

export interface McpSection extends CommandSection {
  readonly transport?: 'stdio' | 'streamable-http' | 'sse'
  readonly port?: number
  readonly path?: string
  readonly sessions?: 'auto' | 'shared' | 'per-client'
}

export interface SkillSection {
  readonly id: string
  readonly name?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly input_schema?: Readonly<Record<string, unknown>>
  readonly idempotent?: boolean
}

export interface A2aSection extends CommandSection {
  readonly port: number
  readonly card_path?: string
  readonly skills?: readonly (string | SkillSection)[]
  readonly capabilities?: { readonly streaming?: boolean; readonly pushNotifications?: boolean }
  readonly max_concurrent_tasks?: number
  readonly rate_limit?: string
}

export interface HookSection extends CommandSection {
  readonly events?: readonly string[]
  readonly mode?: 'observe' | 'intercept'
  readonly points?: readonly string[]
  readonly packages?: readonly string[]
  readonly order?: number
  readonly timeout_ms?: number
  readonly on_error?: 'deny' | 'allow'
}

interface SandboxSection {
  readonly network?: boolean | { readonly allow: readonly string[] }
  readonly filesystem?:
    | boolean
    | {
        readonly data?: boolean
        readonly mounts?: readonly {
          readonly name: string
          readonly target: string
          readonly mode?: 'ro' | 'rw'
          readonly description?: string
        }[]
      }
  readonly memory_limit?: string | number
  readonly cpu_limit?: number
  readonly pids_limit?: number
  readonly tmp_size?: string | number
  readonly image?: string
}

export interface ConfigSection {
  readonly type?: 'string' | 'number' | 'boolean'
  readonly title?: string
  readonly description?: string
  readonly default?: string | number | boolean
  readonly sensitive?: boolean
  readonly required?: boolean
  readonly env?: string
}

interface DependenciesSection {
  readonly python?: string
  readonly node?: string
  readonly packages?: readonly string[]
  readonly sdk?: string
  readonly extensions?: Readonly<Record<string, string>>
}
