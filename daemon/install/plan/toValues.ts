import type { Manifest } from '../../../registry/manifest/manifest.ts'
import type { PackageRecord } from '../../store/state.ts'
import type { InstallRequest } from '../installer.ts'

export interface Values {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
}

/** A package's command and values. What the request does not give stays as an earlier install had it. */
export function toValues(
  manifest: Manifest,
  request: Pick<InstallRequest, 'args' | 'env' | 'secrets'>,
  former: PackageRecord | undefined,
): Values {
  const { entry } = manifest
  const before = former?.command.slice(1 + former.manifest.entry.args.length) ?? []
  const args = request.args.length > 0 ? request.args : before
  const env = { ...former?.env, ...request.env }
  // A value that becomes a secret is no longer kept in the open.
  for (const name of Object.keys(request.secrets)) delete env[name]
  return { command: [entry.command, ...entry.args, ...args], env, secrets: request.secrets }
}
