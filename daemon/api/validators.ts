import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'

/** A body is taken as it is: nothing is coerced, removed or filled in. Queries and paths are text, so numbers and truth values are read from it. */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  const common = { strict: true, allErrors: true, verbose: true, allowUnionTypes: true, validateFormats: false } as const
  const forBodies = new Ajv2020(common)
  const forText = new Ajv2020({ ...common, coerceTypes: true, useDefaults: true })
  return ({ schema, httpPart }) => (httpPart === 'body' ? forBodies : forText).compile(schema)
}
