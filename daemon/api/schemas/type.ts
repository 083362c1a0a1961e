import type * as typebox from 'typebox'

export type { Static, TSchema } from 'typebox'

type Schema = Record<string, unknown>
type Builder = Pick<
  typeof typebox.Type,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>

/** Schemas that `Optional` was put around: the object that holds them does not require them. */
const optional = new WeakSet<Schema>()

const anyKey = '^.*$'

const plain: Record<keyof Builder, (...given: never[]) => object> = {
  Array: (items: Schema, options: Schema = {}) => ({ type: 'array', items, ...options }),
  Boolean: (options: Schema = {}) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options: Schema = {}) => ({ enum: values, ...options }),
  Integer: (options: Schema = {}) => ({ type: 'integer', ...options }),
  Literal: (value: string | number | boolean, options: Schema = {}) => ({ type: typeof value, const: value, ...options }),
  Null: (options: Schema = {}) => ({ type: 'null', ...options }),
  Number: (options: Schema = {}) => ({ type: 'number', ...options }),
  Object(properties: Record<string, Schema>, options: Schema = {}) {
    const required = Object.entries(properties).flatMap(([key, schema]) => (optional.has(schema) ? [] : [key]))
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options }
  },
  Optional(schema: Schema) {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  },
  Record: (key: { pattern?: string }, value: Schema, options: Schema = {}) => ({
    type: 'object',
    patternProperties: { [key.pattern ?? anyKey]: value },
    ...options,
  }),
  String: (options: Schema = {}) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options: Schema = {}) => ({ anyOf, ...options }),
  Unknown: (options: Schema = {}) => ({ ...options }),
  Unsafe: (schema: Schema) => schema,
}

/**
 * TypeBox's builders, with its types and of the JSON Schema that it makes, without its module: 300 files and 15 MB in a daemon that uses none of its
 * validators. A test compares each with the original.
 */
export const Type = plain as Builder
