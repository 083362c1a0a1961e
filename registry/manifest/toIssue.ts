import type { ErrorObject } from 'ajv'
import type { Issue } from '../../daemon/core/errors.ts'
import { pointerTo } from './jsonPointer.ts'
import { manifestSchema } from './manifestSchema.ts'
import { checkMountTarget } from './mountTarget.ts'
import { nearestKey } from './nearestKey.ts'
import { recordOf } from './record.ts'

const show = (value: unknown): string => {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 80 ? `${json.slice(0, 77)}…` : json
}

const quoted = (values: unknown): string => (Array.isArray(values) ? values.map((value) => show(value)).join(', ') : show(values))

/** The sections of the manifest that have a key of this name. */
function sectionsWith(key: string): string[] {
  return Object.entries(recordOf(manifestSchema.properties))
    .filter(([, schema]) => Object.hasOwn(recordOf(recordOf(schema).properties), key))
    .map(([section]) => section)
}

function unknownKey(error: ErrorObject, key: string): Issue {
  const known = Object.keys(recordOf(error.parentSchema?.properties))
  const nearest = nearestKey(key, known)
  const elsewhere = sectionsWith(key)[0]
  const own = 'a key of your own begins with "x-"'
  const fix = nearest?.close
    ? `did you mean "${nearest.key}"?`
    : elsewhere
      ? `"${key}" belongs in "${elsewhere}"`
      : nearest
        ? `the nearest known key is "${nearest.key}"; ${own}`
        : own
  return { pointer: pointerTo(error.instancePath, key), message: `"${key}" is not a known key`, rule: 'additionalProperties', fix }
}

/** One error of ajv (compiled with `verbose`) as an issue, or undefined for those that only say that a part which has its own error failed. */
export function toIssue(error: ErrorObject): Issue | undefined {
  const { instancePath: pointer, keyword: rule, data } = error
  const params = recordOf(error.params)
  const description = recordOf(error.parentSchema).description
  const expected = typeof description === 'string' ? { fix: `write ${description}` } : {}
  switch (rule) {
    case 'if':
    case 'propertyNames':
      return undefined
    case 'additionalProperties':
      return unknownKey(error, String(params.additionalProperty))
    case 'required': {
      const key = String(params.missingProperty)
      return { pointer: pointerTo(pointer, key), message: `"${key}" is missing`, rule, fix: `add "${key}"` }
    }
    case 'false schema': {
      const section = pointer.slice(1)
      return {
        pointer,
        message: `the section "${section}" is not for a package of this type`,
        rule: 'type',
        fix: `remove "${section}", or change "type"`,
      }
    }
    case 'type': {
      const types = [params.type].flat().join(' or ')
      return { pointer, message: `must be ${types}, not ${show(data)}`, rule, ...expected }
    }
    case 'enum': {
      const allowed = Array.isArray(params.allowedValues) ? params.allowedValues.map(String) : []
      const nearest = typeof data === 'string' ? nearestKey(data, allowed) : undefined
      return {
        pointer,
        message: `${show(data)} is not one of ${quoted(params.allowedValues)}`,
        rule,
        fix: nearest?.close ? `did you mean "${nearest.key}"?` : `use one of ${quoted(params.allowedValues)}`,
      }
    }
    case 'not':
      return { pointer, message: `${show(data)} is a name of pkgd's own`, rule: 'reserved', fix: 'choose another id' }
    case 'pattern':
    case 'format':
      return toFormatIssue(error, expected)
    default:
      return { pointer, message: `${error.message ?? 'is not valid'}${data === undefined ? '' : `, not ${show(data)}`}`, rule, ...expected }
  }
}

function toFormatIssue(error: ErrorObject, expected: { readonly fix?: string }): Issue {
  const name = error.propertyName
  if (name !== undefined)
    return { pointer: pointerTo(error.instancePath, name), message: `the key ${show(name)} is not allowed`, rule: 'pattern', ...expected }
  const format = recordOf(error.params).format
  const why =
    format === 'mount-target' ? checkMountTarget(String(error.data)) : format === 'memory' ? 'must be a size of at least 6MB' : undefined
  const rule = typeof format === 'string' ? format : 'pattern'
  const kind =
    typeof recordOf(error.parentSchema).description === 'string' ? String(recordOf(error.parentSchema).description) : 'of the expected form'
  return {
    pointer: error.instancePath,
    message: why ? `${show(error.data)} ${why}` : `${show(error.data)} is not ${kind}`,
    rule,
    ...expected,
  }
}
