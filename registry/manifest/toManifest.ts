import { PkgdError } from '../../daemon/core/errors.ts'
import { toEnvironmentName } from './checkManifest.ts'
import type { ConfigEntry, Dependencies, Entry, Manifest, SandboxRequest } from './manifest.ts'
import type { A2aSection, CommandSection, ConfigSection, HookSection, ManifestFile, McpSection, SkillSection } from './manifestFile.ts'
import { parseDuration } from './parseDuration.ts'
import { parseRate } from './parseRate.ts'
import { parseSize } from './parseSize.ts'
import { ecosystemsOf, toEcosystem } from './splitDependencies.ts'

/** A valid manifest file with every default filled in, sizes in bytes and durations in milliseconds. */
export function toManifest(file: ManifestFile): Manifest {
  const entry = toEntry(file)
  return {
    id: file.id,
    name: file.name,
    version: file.version,
    ...(file.description !== undefined && { description: file.description }),
    ...(file.author !== undefined && { author: file.author }),
    ...(file.license !== undefined && { license: file.license }),
    ...(file.homepage !== undefined && { homepage: file.homepage }),
    keywords: file.keywords ?? [],
    type: file.type === 'internal' ? 'internal-hook' : file.type,
    entry,
    sandbox: toSandbox(file.sandbox ?? {}),
    config: Object.fromEntries(Object.entries(file.config ?? {}).map(([key, section]) => [key, toConfigEntry(key, section)])),
    dependencies: toDependencies(file, entry.command),
    restart: {
      policy: file.restart?.policy ?? 'on-failure',
      maxRetries: file.restart?.max_retries ?? 5,
      windowMs: durationOf(file.restart?.window ?? '10m'),
    },
    health: {
      intervalMs: durationOf(file.health?.interval ?? '30s'),
      timeoutMs: durationOf(file.health?.timeout ?? '5s'),
      retries: file.health?.retries ?? 3,
    },
    start: file.start === 'on-demand' ? { mode: 'on-demand', idleTimeoutMs: durationOf(file.idle_timeout ?? '10m') } : { mode: 'eager' },
  }
}

/** What the schema has accepted is always readable; anything else is a fault of this code. */
function known<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new PkgdError('INTERNAL', `${what} passed the manifest's schema and cannot be read`)
  return value
}

const durationOf = (text: string): number => known(parseDuration(text), `The duration "${text}"`)
const sizeOf = (size: string | number): number => known(parseSize(size), `The size "${size}"`)

function toEntry(file: ManifestFile): Entry {
  if (file.mcp) return toMcpEntry(file.mcp)
  if (file.a2a) return toA2aEntry(file.a2a)
  return toHookEntry(known(file.hook, 'A manifest without an entry section'))
}

const toCommand = (section: CommandSection) => ({
  command: section.command,
  args: section.args ?? [],
  env: section.env ?? {},
  envRequired: section.env_required ?? [],
})

function toMcpEntry(mcp: McpSection): Entry {
  const kind = mcp.transport ?? 'stdio'
  return {
    kind: 'mcp',
    ...toCommand(mcp),
    transport:
      kind === 'stdio'
        ? { kind }
        : { kind, port: known(mcp.port, 'A transport without a port'), path: mcp.path ?? (kind === 'sse' ? '/sse' : '/mcp') },
    sessions: mcp.sessions ?? 'auto',
  }
}

const toSkill = (skill: string | SkillSection) =>
  typeof skill === 'string'
    ? { id: skill, tags: [], idempotent: false }
    : {
        id: skill.id,
        ...(skill.name !== undefined && { name: skill.name }),
        ...(skill.description !== undefined && { description: skill.description }),
        tags: skill.tags ?? [],
        ...(skill.input_schema !== undefined && { inputSchema: skill.input_schema }),
        idempotent: skill.idempotent ?? false,
      }

const toA2aEntry = (a2a: A2aSection): Entry => ({
  kind: 'a2a',
  ...toCommand(a2a),
  port: a2a.port,
  cardPath: a2a.card_path ?? '/.well-known/agent-card.json',
  skills: (a2a.skills ?? []).map(toSkill),
  capabilities: { streaming: a2a.capabilities?.streaming ?? false, pushNotifications: a2a.capabilities?.pushNotifications ?? false },
  maxConcurrentTasks: a2a.max_concurrent_tasks ?? 5,
  rateLimit: a2a.rate_limit === undefined ? null : known(parseRate(a2a.rate_limit), `The rate "${a2a.rate_limit}"`),
})

const toHookEntry = (hook: HookSection): Entry => ({
  kind: 'hook',
  ...toCommand(hook),
  events: hook.events ?? [],
  mode: hook.mode ?? 'observe',
  points: hook.points ?? [],
  packages: hook.packages ?? [],
  order: hook.order ?? 0,
  timeoutMs: hook.timeout_ms ?? 2000,
  onError: hook.on_error ?? 'deny',
})

function toSandbox(sandbox: NonNullable<ManifestFile['sandbox']>): SandboxRequest {
  const { network = false, filesystem = false } = sandbox
  return {
    network: typeof network === 'boolean' ? network : { allow: network.allow },
    data: typeof filesystem === 'boolean' ? filesystem : (filesystem.data ?? false),
    mounts: (typeof filesystem === 'boolean' ? [] : (filesystem.mounts ?? [])).map((mount) => ({
      name: mount.name,
      target: mount.target,
      readOnly: mount.mode !== 'rw',
      ...(mount.description !== undefined && { description: mount.description }),
    })),
    memoryBytes: sizeOf(sandbox.memory_limit ?? '256MB'),
    cpus: sandbox.cpu_limit ?? 1,
    pids: sandbox.pids_limit ?? 128,
    tmpBytes: sizeOf(sandbox.tmp_size ?? '64MB'),
    ...(sandbox.image !== undefined && { image: sandbox.image }),
  }
}

const toConfigEntry = (key: string, entry: ConfigSection): ConfigEntry => ({
  type: entry.type ?? 'string',
  ...(entry.title !== undefined && { title: entry.title }),
  ...(entry.description !== undefined && { description: entry.description }),
  ...(entry.default !== undefined && { default: entry.default }),
  sensitive: entry.sensitive ?? false,
  required: entry.required ?? false,
  env: entry.env ?? toEnvironmentName(key),
})

function toDependencies(file: ManifestFile, command: string): Dependencies {
  const written = file.dependencies ?? {}
  const declared = ecosystemsOf(command, written)
  const packages = (written.packages ?? []).map((spec) => known(toEcosystem(spec, declared), `The dependency "${spec}"`))
  const of = (ecosystem: 'pypi' | 'npm') => packages.filter((entry) => entry.ecosystem === ecosystem).map((entry) => entry.spec)
  return {
    ...(written.python !== undefined && { python: written.python }),
    ...(written.node !== undefined && { node: written.node }),
    pypi: of('pypi'),
    npm: of('npm'),
    ...(written.sdk !== undefined && { sdk: written.sdk }),
    extensions: written.extensions ?? {},
  }
}
