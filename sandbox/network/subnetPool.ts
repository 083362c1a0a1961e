import { PkgdError } from '../../daemon/core/errors.ts'
import { type Cidr, formatAddress, formatCidr, overlaps, parseCidr, sizeOf } from './ipv4.ts'

/** The network of one package: a /30 with the host's end (`gateway`) and the package's own (`address`). */
export interface Subnet {
  /** e.g. `10.83.0.4/30` */
  readonly cidr: string
  readonly gateway: string
  readonly address: string
  readonly prefix: number
}

const subnetPrefix = 30

export function toSubnet(cidr: Cidr): Subnet {
  return { cidr: formatCidr(cidr), gateway: formatAddress(cidr.base + 1), address: formatAddress(cidr.base + 2), prefix: cidr.prefix }
}

/** The first /30 of `pool` that overlaps none of `taken` (networks of any size, inside the pool or not). Errors: CONFIG_INVALID, NETWORK_UNSUPPORTED when it is used up. */
export function pickSubnet(pool: string, taken: readonly string[]): Subnet {
  const whole = parseCidr(pool)
  if (whole.prefix > subnetPrefix) {
    throw new PkgdError('CONFIG_INVALID', `network.pool ${pool} is too small: each package takes a /${subnetPrefix}`, {
      hint: 'set network.pool to a /16 of private addresses that nothing here uses',
    })
  }
  const end = whole.base + sizeOf(whole.prefix)
  const blocks = taken
    .map(parseCidr)
    .filter((cidr) => overlaps(cidr, whole))
    .sort((a, b) => a.base - b.base)
  let candidate: Cidr = { base: whole.base, prefix: subnetPrefix }
  for (const block of blocks) {
    if (!overlaps(block, candidate)) continue
    const after = Math.max(block.base + sizeOf(block.prefix), candidate.base + sizeOf(subnetPrefix))
    candidate = { base: Math.ceil(after / sizeOf(subnetPrefix)) * sizeOf(subnetPrefix), prefix: subnetPrefix }
  }
  if (candidate.base >= end) {
    throw new PkgdError('NETWORK_UNSUPPORTED', `No free network is left in network.pool ${pool}`, {
      hint: 'stop a package that uses the network, or set a larger network.pool',
    })
  }
  return toSubnet(candidate)
}
