import type { ErrorObject } from 'ajv'
import { pointerTo } from '../../registry/manifest/jsonPointer.ts'
import { nearestKey } from '../../registry/manifest/nearestKey.ts'
import type { Issue } from '../core/errors.ts'

const show = (value: unknown): string => {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 80 ? `${json.slice(0, 77)}…` : json
}

const keysOf = (value: unknown): string[] => (typeof value === 'object' && value !== null ? Object.keys(value) : [])

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
}

/** The section beside it that has a key of this name. */
const findInner = (key: string, schema: Schema | undefined): string | undefined =>
  Object.entries(schema?.properties ?? {}).find(([, section]) =>
    [section, ...(section.anyOf ?? [])].some((each) => Object.hasOwn(each.properties ?? {}, key)),
  )?.[0]

/** One error of ajv (compiled with `verbose`) as an issue; undefined for one that only says that an alternative failed, where others say why. */
export function toSchemaIssue({
  instancePath: pointer,
  keyword: rule,
  params,
  data,
  parentSchema,
  message,
}: ErrorObject): Issue | undefined {
  const description: unknown = parentSchema?.description
  const expected = typeof description === 'string' ? { fix: `expected: ${description}` } : {}
  switch (rule) {
    case 'if':
    case 'propertyNames':
      return undefined
    case 'additionalProperties': {
      const key = String(params.additionalProperty)
      const nearest = nearestKey(key, keysOf(parentSchema?.properties))
      const inner = nearest?.close ? undefined : findInner(key, parentSchema as Schema | undefined)
      return {
        pointer: pointerTo(pointer, key),
        message: `"${key}" is not a known key`,
        rule,
        ...(inner
          ? { fix: `it belongs in "${inner}"` }
          : nearest
            ? { fix: nearest.close ? `did you mean "${nearest.key}"?` : `the nearest known key is "${nearest.key}"` }
            : {}),
      }
    }
    case 'required': {
      const key = String(params.missingProperty)
      return { pointer: pointerTo(pointer, key), message: `"${key}" is missing`, rule, fix: `add "${key}"` }
    }
    case 'type':
      return { pointer, message: `must be ${[params.type].flat().join(' or ')}, not ${show(data)}`, rule, ...expected }
    case 'enum': {
      const allowed: string[] = Array.isArray(params.allowedValues) ? params.allowedValues.map(String) : []
      const nearest = typeof data === 'string' ? nearestKey(data, allowed) : undefined
      const fix = nearest?.close ? `did you mean "${nearest.key}"?` : `use one of ${allowed.join(', ')}`
      return { pointer, message: `${show(data)} is not one of ${allowed.join(', ')}`, rule, fix }
    }
    case 'pattern':
    case 'format':
      return { pointer, message: `${show(data)} is not of the expected form`, rule, ...expected }
    default:
      return { pointer, message: `${message ?? 'is not valid'}${typeof data === 'object' ? '' : `, not ${show(data)}`}`, rule, ...expected }
  }
}

/** Every issue, one a place and rule, in the order of their pointers. Alternatives that failed for their type alone are left out where another says more. */
export function toSchemaIssues(errors: readonly ErrorObject[]): Issue[] {
  const alternatives = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  const inside = (error: ErrorObject) => alternatives.some(({ schemaPath }) => error.schemaPath.startsWith(`${schemaPath}/`))
  const deeper = (error: ErrorObject) =>
    errors.some(
      (other) => other !== error && inside(other) && other.keyword !== 'type' && other.instancePath.startsWith(error.instancePath),
    )
  const kept = errors.filter((error) => {
    if (alternatives.includes(error)) return !deeper(error)
    return !inside(error) || error.keyword !== 'type' || error.instancePath !== alternatives[0]?.instancePath
  })
  const seen = new Set<string>()
  return kept
    .flatMap((error) => toSchemaIssue(error) ?? [])
    .filter(({ pointer, rule, message }) => {
      const key = `${pointer} ${rule === 'format' ? 'pattern' : rule} ${message}`
      return !seen.has(key) && seen.add(key)
    })
    .sort((a, b) => (a.pointer < b.pointer ? -1 : a.pointer > b.pointer ? 1 : 0))
}
