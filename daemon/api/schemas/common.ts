import { type Static, Type } from './type.ts'

/** An object whose unknown keys are an error. */
export const strict = <P extends Parameters<typeof Type.Object>[0]>(properties: P, options: { description?: string } = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false })

export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

export const literals = <V extends string[]>(...values: [...V]) => Type.Enum(values)

export const Time = Type.String({ format: 'date-time', description: 'RFC 3339' })

export const PackageId = Type.String({ minLength: 1, maxLength: 64, description: "A package's id" })

export const PackageParams = strict({ id: PackageId })

/** Of a route that takes none: an empty object is as good, anything in it would be ignored and is refused. */
export const NoBody = Type.Union([strict({}), Type.Null()])

/** A page of a list; the next one is named by the `Link` header. */
export const PageQuery = strict({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
})
export type PageQuery = Static<typeof PageQuery>

export const ErrorRecord = Type.Object({
  code: Type.String(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  at: Time,
})
export type ErrorRecord = Static<typeof ErrorRecord>

export const Issue = Type.Object({
  pointer: Type.String({ description: 'RFC 6901 JSON pointer; "" is the whole document' }),
  message: Type.String(),
  rule: Type.Optional(Type.String()),
  fix: Type.Optional(Type.String()),
})
export type Issue = Static<typeof Issue>

/** RFC 9457. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: 'A URI reference that names the kind of problem' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: "A code of pkgd's error table" }),
    hint: Type.Optional(Type.String()),
    errors: Type.Optional(Type.Array(Issue)),
  },
  { description: 'RFC 9457 problem details' },
)
export type Problem = Static<typeof Problem>
