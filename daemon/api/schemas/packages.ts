import { ErrorRecord, literals, nullable, PackageId, PageQuery, strict, Time } from './common.ts'
import { type Static, Type } from './type.ts'

const size = Type.Union([Type.String({ pattern: '^\\d+(\\.\\d+)?\\s*(B|kB|KB|MB|GB)?$' }), Type.Integer({ minimum: 1 })], {
  description: 'Bytes, or a size such as "256MB"',
})

/** The manifest's `sandbox` shape in camelCase: both the grant and the override. What is absent stays as the manifest asks. */
export const Permissions = strict({
  network: Type.Optional(
    Type.Union([Type.Boolean(), strict({ allow: Type.Array(Type.String({ minLength: 3 }), { minItems: 1 }) })], {
      description: 'false, true (the public internet), or the only host:port pairs it may reach',
    }),
  ),
  filesystem: Type.Optional(
    Type.Union([
      Type.Boolean(),
      strict({
        data: Type.Optional(Type.Boolean({ description: 'A private writable /data' })),
        mounts: Type.Array(
          strict({
            source: Type.String({ pattern: '^/', description: 'Absolute host path' }),
            target: Type.String({ pattern: '^/', description: 'Absolute path in the sandbox' }),
            mode: Type.Optional(literals('ro', 'rw')),
          }),
          { description: 'All of them, in place of those that an earlier install granted' },
        ),
      }),
    ]),
  ),
  memoryLimit: Type.Optional(size),
  cpuLimit: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  pidsLimit: Type.Optional(Type.Integer({ minimum: 1 })),
  tmpSize: Type.Optional(size),
})
export type Permissions = Static<typeof Permissions>

const value = nullable(Type.String())

export const InstallBody = strict({
  spec: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'What to install; paths are absolute. Absent with `frozen`: everything in pkgd.lock',
    }),
  ),
  integrity: Type.Optional(Type.String({ description: 'SRI of an https archive: sha256, sha384 or sha512' })),
  args: Type.Optional(
    Type.Array(Type.String(), { description: 'Appended to its command, in place of those of an earlier install; none: those stay' }),
  ),
  env: Type.Optional(
    Type.Record(Type.String(), value, {
      description: 'Values by name, over those of an earlier install; null takes one away. Names are those of environment variables',
    }),
  ),
  secrets: Type.Optional(Type.Record(Type.String(), value, { description: 'The same, kept in the secrets table and shown nowhere' })),
  permissions: Type.Optional(Permissions),
  consent: Type.Optional(Type.Boolean({ description: "Grants whatever the manifests ask, except a mount's source" })),
  start: Type.Optional(Type.Boolean()),
  frozen: Type.Optional(Type.Boolean({ description: 'Install exactly what pkgd.lock says' })),
})
export type InstallBody = Static<typeof InstallBody>

export const WaitQuery = strict({ wait: Type.Optional(Type.Boolean({ description: 'Answer the finished job instead of 202' })) })
export const UninstallQuery = strict({
  wait: Type.Optional(Type.Boolean()),
  purge: Type.Optional(Type.Boolean({ description: 'Remove its /data too' })),
})
export const PackagesQuery = strict({
  ...PageQuery.properties,
  state: Type.Optional(Type.String({ description: 'Only packages in this state' })),
})

const Limits = Type.Object({
  memoryBytes: Type.Integer(),
  cpus: Type.Number(),
  pids: Type.Integer(),
  tmpBytes: Type.Integer(),
})

const EffectiveLimits = Type.Object(
  {
    memoryBytes: nullable(Type.Number()),
    cpus: nullable(Type.Number()),
    pids: nullable(Type.Number()),
    tmpBytes: nullable(Type.Number()),
  },
  { description: "The kernel's values, null where out of reach" },
)

const LimitReading = Type.Object({
  asked: Type.Number(),
  engine: nullable(Type.Number()),
  effective: nullable(Type.Number()),
  enforced: Type.Boolean(),
  note: Type.Optional(Type.String()),
})

export const SandboxView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  driver: Type.String(),
  launchedAt: Time,
  image: Type.String(),
  limits: Type.Object({ memory: LimitReading, cpu: LimitReading, pids: LimitReading, tmp: LimitReading }),
  readOnlyRoot: Type.Boolean(),
  capabilities: Type.Array(Type.String()),
  noNewPrivileges: Type.Boolean(),
  seccomp: Type.Boolean(),
  user: Type.String(),
  init: Type.Boolean(),
  network: literals('none', 'internet', 'allow'),
})
export type SandboxView = Static<typeof SandboxView>

export const PackageView = Type.Object({
  id: PackageId,
  name: Type.String(),
  version: Type.String(),
  type: literals('mcp-server', 'a2a-agent', 'internal-hook'),
  description: nullable(Type.String()),
  state: literals('stopped', 'asleep', 'starting', 'running', 'frozen', 'backoff', 'stopping', 'failed'),
  reason: nullable(Type.String()),
  desired: literals('running', 'stopped'),
  health: literals('unknown', 'healthy', 'unhealthy'),
  lastError: nullable(ErrorRecord),
  since: Time,
  restarts: Type.Integer({ description: 'Restarts within the current window' }),
  limits: Type.Object({ asked: Limits, effective: nullable(EffectiveLimits) }),
  sandbox: nullable(SandboxView),
  network: Type.Union([
    Type.Object({ mode: literals('none', 'internet') }),
    Type.Object({ mode: Type.Literal('allow'), targets: Type.Array(Type.Object({ host: Type.String(), port: Type.Integer() })) }),
  ]),
  data: Type.Boolean({ description: 'Whether it has a private writable /data' }),
  mounts: Type.Array(Type.Object({ source: Type.String(), target: Type.String(), mode: literals('ro', 'rw') })),
  command: Type.Array(Type.String()),
  env: Type.Array(Type.String(), { description: 'Names only' }),
  secrets: Type.Array(Type.String(), { description: 'Names only' }),
  needs: Type.Record(Type.String(), Type.String(), { description: 'Extensions it depends on, id to range' }),
  start: literals('eager', 'on-demand'),
  resolution: Type.Object({ kind: Type.String() }, { additionalProperties: true, description: 'Exactly what was fetched' }),
  manifestOrigin: literals('file', 'package-json-key', 'derived'),
  tree: Type.String({ description: 'Digest of its installed tree' }),
  uid: Type.Integer(),
  installedAt: Time,
})
export type PackageView = Static<typeof PackageView>

export const StatsView = Type.Object({
  id: PackageId,
  time: Time,
  memoryBytes: Type.Number(),
  memoryLimitBytes: Type.Number(),
  cpuSeconds: Type.Number({ description: 'Used since launch' }),
  pids: Type.Number(),
  networkRxBytes: Type.Number(),
  networkTxBytes: Type.Number(),
})
export type StatsView = Static<typeof StatsView>

export const StatsQuery = strict({
  follow: Type.Optional(Type.Boolean({ description: 'Server-sent events, one a second' })),
})

export const LogsQuery = strict({
  follow: Type.Optional(Type.Boolean({ description: 'Server-sent events instead of an array' })),
  tail: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description: 'The last N lines only' })),
})

export const LogEntry = Type.Object({ time: Time, stream: literals('stdout', 'stderr'), line: Type.String() })
export type LogEntry = Static<typeof LogEntry>
