import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { InstallBody, Permissions } from '../daemon/api/schemas/packages.ts'
import { checkEnvironmentName } from '../daemon/core/environmentName.ts'
import { PkgdError } from '../daemon/core/errors.ts'

/** The command line of `pkg install` that concerns the sandbox. */
export interface InstallOptions {
  readonly network?: string[]
  readonly mount?: string[]
  readonly memory?: string
  readonly cpus?: string
  readonly pids?: string
}

/** A spec with its path made absolute: the daemon does not share the caller's directory. Specs of other forms are as they were. */
export function toAbsoluteSpec(spec: string, cwd: string): string {
  if (spec.startsWith('~/')) return resolve(homedir(), spec.slice(2))
  return /^\.{0,2}\//.test(spec) || spec === '.' || spec === '..' || /\.(tgz|tar|tar\.gz)$/.test(spec.replace(/^https?:.*/, ''))
    ? resolve(cwd, spec)
    : spec
}

/** `K=V` pairs. Errors: USAGE. */
export function toEnv(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const cut = pair.indexOf('=')
      if (cut < 1) throw new PkgdError('USAGE', `--env ${pair}: expected NAME=value`, { hint: 'pkg install <spec> --env NAME=value' })
      return [checkName('--env', pair.slice(0, cut)), pair.slice(cut + 1)]
    }),
  )
}

/** What `--unset` takes away of an earlier install, be it a value in the open or a secret. Errors: USAGE. */
export const toUnset = (names: readonly string[]): Record<string, null> =>
  Object.fromEntries(names.map((name) => [checkName('--unset', name), null]))

/** Errors: USAGE for what no environment variable can be called. */
export function checkName(option: string, name: string): string {
  const wrong = checkEnvironmentName(name)
  if (wrong) throw new PkgdError('USAGE', `${option}: "${name}" ${wrong}`, { hint: 'use another name' })
  return name
}

/** The sandbox options as REST's `permissions`; undefined when none was given. Errors: USAGE. */
export function toPermissions(options: InstallOptions, cwd: string): Permissions | undefined {
  const permissions: Permissions = {
    ...(options.network ? { network: toNetwork(options.network) } : {}),
    ...(options.mount ? { filesystem: { mounts: toMounts(options.mount, cwd) } } : {}),
    ...(options.memory ? { memoryLimit: options.memory } : {}),
    ...(options.cpus ? { cpuLimit: toNumber('--cpus', options.cpus) } : {}),
    ...(options.pids ? { pidsLimit: toNumber('--pids', options.pids) } : {}),
  }
  return Object.keys(permissions).length > 0 ? permissions : undefined
}

function toNetwork(values: readonly string[]): boolean | { allow: string[] } {
  if (values.length === 1 && values[0] === 'none') return false
  if (values.length === 1 && values[0] === 'internet') return true
  const wrong = values.find((value) => !/^[^\s:]+:\d+$/.test(value))
  if (wrong !== undefined) throw new PkgdError('USAGE', `--network ${wrong}: expected none, internet or host:port`)
  return { allow: [...values] }
}

type Mount = Extract<NonNullable<InstallBody['permissions']>['filesystem'], object>['mounts'][number]

/** `none` alone takes away what an earlier install granted. */
const toMounts = (values: readonly string[], cwd: string): Mount[] =>
  values.length === 1 && values[0] === 'none' ? [] : values.map((text) => toMount(text, cwd))

/** `src:dst[:ro]`, or `src=…,dst=…[,ro]` for paths with a colon. A relative source is the caller's. */
export function toMount(text: string, cwd: string): Mount {
  const usage = { hint: '--mount ./docs:/docs:ro or --mount src=./docs,dst=/docs,ro' }
  const fields = /(^|,)(src|source)=/.test(text) ? byName(text) : byPlace(text)
  if (!fields.source || !fields.target) throw new PkgdError('USAGE', `--mount ${text}: expected a source and a target`, usage)
  if (!isAbsolute(fields.target)) throw new PkgdError('USAGE', `--mount ${text}: the target ${fields.target} must be absolute`, usage)
  return { source: realpath(resolve(cwd, fields.source)), target: fields.target, mode: fields.readOnly ? 'ro' : 'rw' }
}

function byPlace(text: string) {
  const parts = text.split(':')
  const mode = parts.length === 3 ? parts[2] : 'rw'
  if (parts.length < 2 || parts.length > 3 || (mode !== 'ro' && mode !== 'rw')) return { source: '', target: '', readOnly: false }
  return { source: parts[0] ?? '', target: parts[1] ?? '', readOnly: mode === 'ro' }
}

function byName(text: string) {
  const fields = new Map(text.split(',').map((field) => [field.split('=')[0] ?? '', field.slice(field.indexOf('=') + 1)] as const))
  return {
    source: fields.get('src') ?? fields.get('source') ?? '',
    target: fields.get('dst') ?? fields.get('target') ?? '',
    readOnly: fields.has('ro') || fields.has('readonly'),
  }
}

/** A link is granted as what it points to now; a path that is not there is left for the daemon to refuse. */
function realpath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return path
    throw error
  }
}

function toNumber(option: string, text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new PkgdError('USAGE', `${option} ${text}: expected a number above 0`)
  return value
}
