import { formatSize } from '../../../registry/manifest/formatSize.ts'
import type { Manifest } from '../../../registry/manifest/manifest.ts'
import { toCanonicalJson } from '../../core/canonicalJson.ts'
import type { Grants, PackageRecord } from '../../store/state.ts'
import type { InstallRequest } from '../installer.ts'
import { describeNetwork, toNetworkPolicy } from '../permissions/toNetworkPolicy.ts'
import { argumentsOf, type Values } from './toValues.ts'

/** What a package has of an earlier install that this request did not name, a line each; no values, which may be anything. */
export function listKept(
  manifest: Manifest,
  request: Pick<InstallRequest, 'args' | 'env' | 'secrets' | 'permissions'>,
  { inherited, values, grants }: { readonly inherited: PackageRecord | undefined; readonly values: Values; readonly grants: Grants },
): string[] {
  if (!inherited) return []
  const { permissions } = request
  const { sandbox } = manifest
  const named = (name: string) => Object.hasOwn(request.env, name) || Object.hasOwn(request.secrets, name)
  const args = request.args.length === 0 ? argumentsOf(inherited) : []
  const mounts = permissions.mounts === undefined ? grants.mounts : []
  const changed = <T>(given: unknown, granted: T, asked: T, text: string) =>
    given === undefined && toCanonicalJson(granted) !== toCanonicalJson(asked) ? [text] : []
  const { limits, network } = grants
  return [
    ...(args.length > 0 ? [`arguments ${args.join(' ')}`] : []),
    ...Object.keys(values.env)
      .filter((name) => !named(name))
      .sort()
      .map((name) => `env ${name}`),
    ...values.secretNames.filter((name) => !named(name)).map((name) => `secret ${name}`),
    ...mounts.map(({ source, target, readOnly }) => `mount ${source}:${target}${readOnly ? ':ro' : ''}`),
    ...changed(permissions.network, network, toNetworkPolicy(sandbox.network), `network ${describeNetwork(network)}`),
    ...changed(permissions.filesystem, grants.data, sandbox.data, grants.data ? '/data' : 'no /data'),
    ...changed(permissions.memoryBytes, limits.memoryBytes, sandbox.memoryBytes, `memory ${formatSize(limits.memoryBytes)}`),
    ...changed(permissions.cpus, limits.cpus, sandbox.cpus, `cpus ${limits.cpus}`),
    ...changed(permissions.pids, limits.pids, sandbox.pids, `pids ${limits.pids}`),
    ...changed(permissions.tmpBytes, limits.tmpBytes, sandbox.tmpBytes, `tmp ${formatSize(limits.tmpBytes)}`),
  ]
}
