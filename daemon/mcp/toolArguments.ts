import type { Tool } from '@modelcontextprotocol/client'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import { loadAjv, loadAjv2020, loadAjvFormats } from '../../registry/manifest/loadAjv.ts'
import type { Issue } from '../core/errors.ts'
import type { Logger } from '../core/ports.ts'
import { createBoundedPattern } from './boundedPattern.ts'

/** Checks the arguments of calls against the schemas that packages give their tools. */
export interface ArgumentChecker {
  /** Every place at which the arguments break the tool's schema; none when the schema cannot be compiled, which is logged once. */
  check(packageId: string, tool: Tool, args: Record<string, unknown>): Issue[]
}

/** A schema larger than this is the package's own business. */
const maxSchemaLength = 262_144

/** `logOf`: a package's log. */
export function createArgumentChecker(logOf: (packageId: string) => Logger): ArgumentChecker {
  const validators = new WeakMap<Tool, ValidateFunction | null>()
  const compilers = new Map<'draft-07' | '2020-12', Ajv>()

  const compiler = (dialect: 'draft-07' | '2020-12'): Ajv => {
    const known = compilers.get(dialect)
    if (known) return known
    const options = {
      strict: false,
      allErrors: true,
      addUsedSchema: false,
      logger: false,
      code: { regExp: Object.assign(createBoundedPattern, { code: 'createBoundedPattern' }) },
    } as const
    const made: Ajv = dialect === 'draft-07' ? new (loadAjv())(options) : new (loadAjv2020())(options)
    loadAjvFormats()(made, { mode: 'fast' })
    compilers.set(dialect, made)
    return made
  }

  const compile = (packageId: string, tool: Tool): ValidateFunction | null => {
    try {
      if (JSON.stringify(tool.inputSchema).length > maxSchemaLength) throw new Error(`it has more than ${maxSchemaLength} characters`)
      const ajv = compiler(dialectOf(tool.inputSchema))
      const validate = ajv.compile(tool.inputSchema)
      // The compiler would keep the schema for as long as it lives itself; packages may change theirs at any time.
      ajv.removeSchema(tool.inputSchema)
      return validate
    } catch (error) {
      logOf(packageId).warn("A tool's input schema cannot be used; its arguments are not checked", {
        tool: tool.name,
        error: error instanceof Error ? error.message : String(error),
      })
      return null
    }
  }

  return {
    check(packageId, tool, args) {
      let validate = validators.get(tool)
      if (validate === undefined) {
        validate = compile(packageId, tool)
        validators.set(tool, validate)
      }
      return validate === null || validate(args) ? [] : (validate.errors ?? []).map(toIssue)
    },
  }
}

/** The revision of JSON Schema that the schema names; without one it is MCP's, 2020-12. */
function dialectOf(schema: Tool['inputSchema']): 'draft-07' | '2020-12' {
  const named: unknown = schema.$schema
  return typeof named === 'string' && /draft-0[4-7]/.test(named) ? 'draft-07' : '2020-12'
}

function toIssue({ instancePath, keyword, message, params }: ErrorObject): Issue {
  const { missingProperty, additionalProperty, unevaluatedProperty, allowedValues } = params as Record<string, unknown>
  const added = missingProperty ?? additionalProperty ?? unevaluatedProperty
  const pointer = typeof added === 'string' ? `${instancePath}/${added.replaceAll('~', '~0').replaceAll('/', '~1')}` : instancePath
  const allowed = Array.isArray(allowedValues) ? `: ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}` : ''
  const text =
    typeof missingProperty === 'string' ? 'is required' : typeof added === 'string' ? 'is not a known argument' : (message ?? keyword)
  return { pointer, message: `${text}${allowed}`, rule: keyword }
}
