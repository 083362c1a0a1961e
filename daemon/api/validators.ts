import type { ErrorObject, ValidateFunction } from 'ajv'
import type { Ajv2020, Options } from 'ajv/dist/2020.js'
import type { FastifySchemaCompiler } from 'fastify'
import { loadAjv2020 } from '../../registry/manifest/loadAjv.ts'
import type { TSchema } from './schemas/type.ts'

interface Check {
  (data: unknown): boolean
  errors?: ErrorObject[] | null
}

/** A validator of one kind of place. Made and compiled at the first request that needs it: a daemon sees few of its routes, and each validator is code. */
function createCompiler(options: Options): (schema: TSchema) => Check {
  let ajv: Ajv2020 | undefined
  return (schema) => {
    let validate: ValidateFunction | undefined
    const check: Check = (data) => {
      ajv ??= new (loadAjv2020())({
        strict: true,
        allErrors: true,
        verbose: true,
        allowUnionTypes: true,
        validateFormats: false,
        ...options,
      })
      validate ??= ajv.compile(schema)
      const valid = validate(data)
      check.errors = validate.errors ?? null
      return valid
    }
    return check
  }
}

/** A body is taken as it is: nothing is coerced, removed or filled in. Queries and paths are text, so numbers and truth values are read from it. */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  const forBodies = createCompiler({})
  const forText = createCompiler({ coerceTypes: true, useDefaults: true })
  return ({ schema, httpPart }) => (httpPart === 'body' ? forBodies : forText)(schema)
}
