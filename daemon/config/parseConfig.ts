import { isIP } from 'node:net'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { loadAjv2020 } from '../../registry/manifest/loadAjv.ts'
import { parseDuration } from '../../registry/manifest/parseDuration.ts'
import { parseSize } from '../../registry/manifest/parseSize.ts'
import { type Issue, PkgdError } from '../core/errors.ts'
import type { Config } from './config.ts'
import { configSchema } from './configSchema.ts'
import { readDocument } from './readDocument.ts'
import { type ConfigDefaults, type ConfigFile, toConfig } from './toConfig.ts'
import { toSchemaIssues } from './toSchemaIssue.ts'

const isCidr = (text: string) => {
  const [address = '', bits = '', ...rest] = text.split('/')
  const family = isIP(address)
  return rest.length === 0 && family > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

let compiled: ValidateFunction<ConfigFile> | undefined

function schemaValidator(): ValidateFunction<ConfigFile> {
  if (compiled) return compiled
  const ajv = new (loadAjv2020())({ strict: true, allErrors: true, verbose: true, allowUnionTypes: true, strictRequired: false })
  ajv.addFormat('cidr', isCidr)
  ajv.addFormat('ip', (text) => isIP(text) > 0)
  ajv.addFormat('size', { type: 'string', validate: (text) => (parseSize(text) ?? 0) > 0 })
  ajv.addFormat('duration', { type: 'string', validate: (text) => parseDuration(text) !== undefined })
  compiled = ajv.compile<ConfigFile>(configSchema)
  return compiled
}

const driverNames: ReadonlySet<unknown> = new Set(['auto', 'docker', 'bubblewrap'])
const logNames: ReadonlySet<unknown> = new Set(['silent', 'debug', 'info', 'warn', 'error'])

const overrides = { PKGD_PORT: 'port', PKGD_DRIVER: 'driver', PKGD_LOG: 'log' } as const

/** What the environment says, over what the file says. An empty variable says nothing. */
function override(document: unknown, variables: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document
  const given = Object.entries(overrides).flatMap(([name, key]) => {
    const value = variables[name]
    return value ? [[key, key === 'port' && /^\d+$/.test(value) ? Number(value) : value]] : []
  })
  return { ...document, ...Object.fromEntries(given) }
}

const isEmpty = (document: unknown) =>
  typeof document === 'object' && document !== null && !Array.isArray(document) && Object.keys(document).length === 0

/** A file of the environment's making that is valid as it stands. */
function isPlain(file: unknown): file is ConfigFile {
  const { port = 0, driver = 'auto', log = 'info' } = file as Record<string, unknown>
  return Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65535 && driverNames.has(driver) && logNames.has(log)
}

function invalid(issues: readonly Issue[]): PkgdError {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return new PkgdError('CONFIG_INVALID', `pkgd.yaml: ${first?.pointer || '(document)'}: ${first?.message}${more}`, {
    issues,
    ...(first?.fix === undefined ? {} : { hint: first.fix }),
  })
}

interface ConfigInput {
  /** The text of pkgd.yaml; empty where there is none. */
  readonly text: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of `$PKGD_HOME/.env`: only for `${NAME}`, and only where the environment has none. */
  readonly dotenv: Readonly<Record<string, string | undefined>>
  readonly defaults: ConfigDefaults
}

/** Throws CONFIG_INVALID with every issue. */
export async function parseConfig({ text, env, dotenv, defaults }: ConfigInput): Promise<Config> {
  const { document, issues } = text.trim() === '' ? { document: {}, issues: [] } : await readDocument(text, { ...dotenv, ...env })
  if (issues.length > 0) throw invalid(issues)
  const file = override(document, env)
  // Most homes say nothing but a port: no validator is compiled for that.
  if (isEmpty(document) && isPlain(file)) return toConfig(file, defaults)
  const validate = schemaValidator()
  if (validate(file)) return toConfig(file, defaults)
  const found = toSchemaIssues(validate.errors ?? []).map((issue): Issue => {
    const name = Object.entries(overrides).find(([variable, key]) => env[variable] && issue.pointer === `/${key}`)?.[0]
    return name ? { ...issue, message: `${issue.message} (from the environment variable ${name})` } : issue
  })
  throw invalid(found)
}
