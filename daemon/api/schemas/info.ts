import { literals, nullable, PageQuery, strict, Time } from './common.ts'
import { type Static, Type } from './type.ts'

export const Health = Type.Object({ status: Type.Literal('ok'), version: Type.String() })
export type Health = Static<typeof Health>

const limitName = literals('memory', 'cpu', 'pids', 'tmp')
const networkMode = literals('none', 'internet', 'allow')

export const DriverView = Type.Object({
  name: Type.String(),
  state: literals('ready', 'degraded'),
  reason: nullable(Type.String()),
  capabilities: nullable(
    Type.Object({
      driver: Type.String(),
      version: Type.String(),
      stdio: literals('pipes', 'attach'),
      freeze: Type.Boolean(),
      localMounts: Type.Boolean(),
      adoption: Type.Boolean(),
      unenforced: Type.Record(Type.String(), Type.String(), { description: 'Limits that cannot be enforced here, each with its reason' }),
      network: Type.Array(networkMode),
      networkRefused: Type.Record(Type.String(), Type.String()),
      notes: Type.Array(Type.String()),
    }),
  ),
})

export const Info = Type.Object({
  version: Type.String(),
  node: Type.String(),
  platform: Type.String(),
  pid: Type.Integer(),
  startedAt: Time,
  url: nullable(Type.String()),
  socket: Type.String(),
  home: Type.String(),
  daemonId: Type.String(),
  driver: DriverView,
  counts: Type.Object({ packages: Type.Integer(), running: Type.Integer(), failed: Type.Integer(), tools: Type.Integer() }),
  ceiling: Type.Object({ memoryBytes: Type.Integer(), cpus: Type.Number(), pids: Type.Integer(), tmpBytes: Type.Integer() }),
  allowUnenforced: Type.Array(limitName, { description: 'Limits that the operator lets pass unenforced' }),
  restored: Type.Boolean({ description: 'A damaged state database was set aside; nothing is swept until `pkg doctor --repair`' }),
})
export type Info = Static<typeof Info>

export const SearchQuery = strict({
  q: Type.Optional(Type.String({ maxLength: 256 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 250, default: 20 })),
  cursor: PageQuery.properties.cursor,
})

export const SearchHit = Type.Object({
  id: Type.String(),
  name: Type.String(),
  version: Type.String(),
  type: Type.String(),
  description: Type.String(),
  spec: Type.String({ description: 'What to give to install' }),
  registry: Type.String(),
})
export type SearchHit = Static<typeof SearchHit>

export const Check = Type.Object({
  id: Type.String(),
  title: Type.String(),
  status: literals('ok', 'warning', 'error'),
  detail: Type.String(),
  hint: Type.Optional(Type.String()),
})
export type Check = Static<typeof Check>

export const Doctor = Type.Object({ status: literals('ok', 'warning', 'error'), checks: Type.Array(Check) })
export type Doctor = Static<typeof Doctor>
