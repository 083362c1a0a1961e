import type { SandboxRequest } from '../../../registry/manifest/manifest.ts'
import { parseHostPort } from '../../../registry/manifest/parseHostPort.ts'
import { PkgdError } from '../../core/errors.ts'
import type { NetworkPolicy } from '../../core/types.ts'

/** The manifest's `network` as a policy. */
export function toNetworkPolicy(network: SandboxRequest['network']): NetworkPolicy {
  if (network === false) return { mode: 'none' }
  if (network === true) return { mode: 'internet' }
  return { mode: 'allow', targets: network.allow.map(toTarget) }
}

/** `none`, `internet`, or the names and ports in order. */
export function describeNetwork(policy: NetworkPolicy): string {
  if (policy.mode === 'none') return 'no network'
  if (policy.mode === 'internet') return 'the public internet'
  return policy.targets.map((target) => `${target.host}:${target.port}`).join(', ')
}

function toTarget(text: string): { host: string; port: number } {
  const target = parseHostPort(text)
  if (!target) throw new PkgdError('MANIFEST_INVALID', `"${text}" in sandbox.network.allow is not host:port`)
  return target
}
