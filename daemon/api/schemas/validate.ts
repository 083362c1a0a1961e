import { Issue, literals, nullable, strict } from './common.ts'
import { type Static, Type } from './type.ts'

export const ValidateBody = strict({ manifest: Type.Unknown({ description: 'A manifest in the form of package.json' }) })
export type ValidateBody = Static<typeof ValidateBody>

export const ValidateResult = Type.Object({
  valid: Type.Boolean(),
  id: nullable(Type.String()),
  version: nullable(Type.String()),
  origin: nullable(literals('file', 'package-json-key', 'derived')),
  issues: Type.Array(Issue),
})
export type ValidateResult = Static<typeof ValidateResult>
