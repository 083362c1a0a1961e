import { daemonsPrefix, environmentNamePattern, environmentNameRule, shellsOwnNames } from '../../daemon/core/environmentName.ts'
import { durationPattern } from './parseDuration.ts'
import { sizePattern } from './parseSize.ts'

/** A JSON Schema as data. */
export type Schema = { readonly [keyword: string]: unknown }

export const text: Schema = { type: 'string', minLength: 1, maxLength: 4096 }

/** `description` doubles as what an error's fix says to write. */
export const described = (schema: Schema, description: string): Schema => ({ ...schema, description })

/** An object of known keys; others are errors but for `x-…`. */
export const closed = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  patternProperties: { '^x-': true },
  additionalProperties: false,
})

export const list = (items: Schema): Schema => ({ type: 'array', items })

export const size = (fallback: string): Schema => ({
  type: ['string', 'integer'],
  pattern: sizePattern,
  format: 'size',
  minimum: 1,
  default: fallback,
  description: 'a size such as "256MB" or a whole number of bytes; kB, MB and GB are powers of 1024',
})

export const duration = (fallback: string): Schema => ({
  type: 'string',
  pattern: durationPattern,
  default: fallback,
  description: 'a duration such as "500ms", "30s", "10m" or "1h"',
})

export const environmentName: Schema = {
  type: 'string',
  pattern: `^(?!${daemonsPrefix})(?!(${shellsOwnNames.join('|')})$)${environmentNamePattern.slice(1)}`,
  description: `the name of an environment variable: ${environmentNameRule}; not ${shellsOwnNames.join(', ')}, which are the shells', nor one that begins with ${daemonsPrefix}, which are the daemon's`,
}

/** What every entry section has: the command that runs in /app. */
export const commandProperties: Record<string, Schema> = {
  command: described({ type: 'string', minLength: 1, pattern: '^[^\\u0000]+$' }, 'the program to run, e.g. "python" or "node"'),
  args: list({ type: 'string', pattern: '^[^\\u0000]*$' }),
  env: { type: 'object', propertyNames: environmentName, additionalProperties: { type: 'string', pattern: '^[^\\u0000]*$' } },
  env_required: { ...list(environmentName), uniqueItems: true },
}
