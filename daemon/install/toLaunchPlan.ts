import type { ConfigEntry } from '../../registry/manifest/manifest.ts'
import { toSpec } from '../../registry/resolve/toSpec.ts'
import { PkgdError } from '../core/errors.ts'
import type { LaunchPlan } from '../lifecycle/lifecycleDeps.ts'
import type { PackageRecord } from '../store/state.ts'
import { toLockedSource } from './plan/toLockedSource.ts'
import { pickImage } from './runtimes/pickImage.ts'

/** Python finds what was installed for the package, says things at once, and writes no bytecode into a tree that is read-only. */
const pythonEnv = { PYTHONPATH: '/app/.pkgd/python', PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' }

/**
 * What starting a package takes. Values, the weakest first: what the runtime needs, the manifest's `env`, defaults of its `config`, the user's `env`, the
 * user's secrets. A config entry may be given by its variable's name or by its own. Errors: ENV_MISSING with every missing value at once.
 */
export function toLaunchPlan(record: PackageRecord, secretOf: (name: string) => string | undefined): LaunchPlan {
  const { manifest } = record
  const image = pickImage(manifest)
  const python = ('runtime' in image && image.runtime === 'python') || manifest.dependencies.pypi.length > 0
  const env: Record<string, string> = { ...(python && pythonEnv), ...manifest.entry.env }
  for (const entry of Object.values(manifest.config)) {
    if (entry.default !== undefined) env[entry.env] = String(entry.default)
  }
  const given: Record<string, string> = { ...record.env }
  for (const name of record.secrets) {
    const value = secretOf(name)
    if (value !== undefined) given[name] = value
  }
  for (const [name, entry] of Object.entries(manifest.config)) {
    const value = given[name]
    if (value === undefined || name === entry.env) continue
    delete given[name]
    given[entry.env] ??= value
  }
  Object.assign(env, given)
  const missing = listMissing(record, env)
  if (missing.length > 0) {
    throw new PkgdError('ENV_MISSING', `${record.id} cannot start without ${missing.map(describe).join(', ')}`, {
      hint: toCommand(
        record,
        missing.map(({ option }) => option),
      ),
      issues: missing.map(({ name, entry, option }) => ({
        pointer: entry ? '/config' : `/${manifest.entry.kind}/env_required`,
        message: describe({ name, entry }),
        rule: 'required',
        fix: toCommand(record, [option]),
      })),
    })
  }
  return { image, command: record.command, env }
}

interface Missing {
  /** Of the variable. */
  readonly name: string
  readonly entry: ConfigEntry | undefined
  /** What gives it to an install. */
  readonly option: string
}

function listMissing(record: PackageRecord, env: Readonly<Record<string, string>>): Missing[] {
  const { entry, config } = record.manifest
  const configured = Object.values(config)
  const wanted = new Map<string, ConfigEntry | undefined>()
  for (const name of entry.envRequired)
    wanted.set(
      name,
      configured.find((one) => one.env === name),
    )
  for (const one of configured) if (one.required) wanted.set(one.env, one)
  return [...wanted.entries()]
    .filter(([name]) => env[name] === undefined || env[name] === '')
    .map(([name, one]) => ({ name, entry: one, option: isSensitive(name, one) ? `--secret ${name}` : `--env ${name}=value` }))
}

const describe = ({ name, entry }: Pick<Missing, 'name' | 'entry'>): string => (entry?.title ? `${name} (${entry.title})` : name)

/** Installs this very package again, which keeps all that it was given before, and gives it more. */
const toCommand = ({ resolution }: PackageRecord, options: readonly string[]): string =>
  ['pkg install', quote(toSpec(toLockedSource(resolution))), ...options].join(' ')

/** As a POSIX shell reads it back. */
const quote = (word: string): string => (/^[\w@%+=:,./^~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** Keys and tokens are secrets even where the manifest does not say so. */
const isSensitive = (name: string, entry: ConfigEntry | undefined): boolean =>
  entry ? entry.sensitive : /(KEY|TOKEN|SECRET|PASSWORD|PASS|CREDENTIALS?)$/i.test(name)
