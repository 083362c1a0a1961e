import { ErrorRecord, Issue, literals, nullable, strict, Time } from './common.ts'
import type { PackageView } from './packages.ts'
import { type Static, Type } from './type.ts'

export const JobView = Type.Object({
  id: Type.String(),
  kind: Type.String({ description: 'install, uninstall, start, stop, restart, verify, repair' }),
  subject: Type.String({ description: 'The package or spec it is about' }),
  state: literals('queued', 'running', 'succeeded', 'failed', 'cancelled'),
  stage: nullable(Type.String()),
  message: nullable(Type.String()),
  progress: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  error: nullable(Type.Object({ ...ErrorRecord.properties, issues: Type.Optional(Type.Array(Issue)) })),
  result: Type.Unknown({ description: 'Of the kind, null until it succeeded' }),
  createdAt: Time,
  updatedAt: Time,
})
export type JobView = Static<typeof JobView>

export const JobParams = strict({ id: Type.String({ minLength: 1, maxLength: 64 }) })

/** 202: followed at `Location`. */
export const JobAccepted = Type.Object({ job: JobView })
export type JobAccepted = Static<typeof JobAccepted>

/** `result` by `kind` of job. */
export interface JobResults {
  /** `kept`: what the package still has of an earlier install, a line each. */
  install: { package: PackageView; installed: string[]; unchanged: string[]; kept: string[] }
  'install-locked': { package: PackageView; installed: string[]; unchanged: string[]; kept: string[] }[]
  uninstall: { id: string; keptData: string | null }
  start: PackageView
  stop: PackageView
  restart: PackageView
  verify: {
    packages: { id: string; version: string; tree: string; differences: { path: string; problem: 'missing' | 'added' | 'changed' }[] }[]
  }
  repair: { repaired: string[] }
}
