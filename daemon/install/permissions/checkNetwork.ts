import type { DriverCapabilities } from '../../../sandbox/sandboxDriver.ts'
import { PkgdError } from '../../core/errors.ts'
import type { NetworkPolicy } from '../../core/types.ts'

/** Refuses a network policy that the driver cannot enforce: none is ever run with more than was granted. */
export function checkNetwork(
  packageId: string,
  policy: NetworkPolicy,
  capabilities: Pick<DriverCapabilities, 'driver' | 'network' | 'networkRefused'>,
): void {
  if (capabilities.network.includes(policy.mode)) return
  const wanted = { none: 'no network', internet: 'the internet', allow: 'an allow-list' }[policy.mode]
  const reason = capabilities.networkRefused[policy.mode] ?? `the ${capabilities.driver} driver does not enforce it`
  throw new PkgdError('NETWORK_UNSUPPORTED', `${packageId} cannot be given ${wanted} as its network: ${reason}`, {
    hint: policy.mode === 'allow' ? 'install it with --network none or --network internet' : 'pkg doctor says what is missing',
  })
}
