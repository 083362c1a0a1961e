import type { Manifest } from '../../../registry/manifest/manifest.ts'
import type { PackageRecord } from '../../store/state.ts'
import type { InstallRequest } from '../installer.ts'

export interface Values {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** New values of secrets. */
  readonly secrets: Readonly<Record<string, string>>
  /** Of all its secrets, old and new. */
  readonly secretNames: readonly string[]
}

/** The user's part of an installed package's command. */
export const argumentsOf = ({ command, manifest }: Pick<PackageRecord, 'command' | 'manifest'>): readonly string[] =>
  command.slice(1 + manifest.entry.args.length)

/**
 * A package's command and values. What the request does not name stays as `inherited`, an earlier install, has it. A name is either a value in the open or a secret, as it was
 * given last; null takes it away.
 */
export function toValues(
  manifest: Manifest,
  request: Pick<InstallRequest, 'args' | 'env' | 'secrets'>,
  inherited: PackageRecord | undefined,
): Values {
  const { entry } = manifest
  const args = request.args.length > 0 ? request.args : inherited ? argumentsOf(inherited) : []
  const secrets = valuesOf(request.secrets)
  const named = (name: string) => Object.hasOwn(request.env, name) || Object.hasOwn(request.secrets, name)
  const before = Object.entries(inherited?.env ?? {}).filter(([name]) => !named(name))
  // A value that becomes a secret is no longer kept in the open.
  const given = Object.entries(valuesOf(request.env)).filter(([name]) => !Object.hasOwn(secrets, name))
  const kept = (inherited?.secrets ?? []).filter((name) => !named(name))
  return {
    command: [entry.command, ...entry.args, ...args],
    env: Object.fromEntries([...before, ...given]),
    secrets,
    secretNames: [...kept, ...Object.keys(secrets)].sort(),
  }
}

const valuesOf = (record: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(record).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
