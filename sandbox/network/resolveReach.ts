import { lookup } from 'node:dns/promises'
import { isIPv4 } from 'node:net'
import { PkgdError } from '../../daemon/core/errors.ts'
import { contains, parseAddress, parseCidr } from './ipv4.ts'

export interface ReachAddresses {
  readonly targets: readonly { readonly address: string; readonly port: number }[]
  /** What each name stands for, for as long as the rules do. */
  readonly pinned: ReadonlyMap<string, readonly string[]>
}

type Lookup = (host: string) => Promise<readonly string[]>

const lookupOnHost: Lookup = async (host) => (await lookup(host, { family: 4, all: true })).map(({ address }) => address)

/** Names to addresses as the host sees them, once: the rules and the resolver's answers are then the same. Errors: NETWORK_UNSUPPORTED, REGISTRY_UNREACHABLE. */
export async function resolveReach(
  targets: readonly { readonly host: string; readonly port: number }[],
  lookupName: Lookup = lookupOnHost,
): Promise<ReachAddresses> {
  const pinned = new Map<string, readonly string[]>()
  const reached = new Map<string, { address: string; port: number }>()
  for (const { host, port } of targets) {
    const name = host.toLowerCase().replace(/\.$/, '')
    const addresses = isIPv4(name) ? [name] : (pinned.get(name) ?? (await lookupOrThrow(name, lookupName)))
    const loopback = addresses.find(isLoopback)
    if (loopback !== undefined) {
      throw new PkgdError('NETWORK_UNSUPPORTED', `${host}:${port} is this host's loopback (${loopback}), which a sandbox cannot reach`, {
        hint: "name the service by an address of this host's that is not loopback, and let it listen there",
      })
    }
    if (!isIPv4(name)) pinned.set(name, addresses)
    for (const address of addresses) reached.set(`${address}:${port}`, { address, port })
  }
  return { targets: [...reached.values()], pinned }
}

async function lookupOrThrow(name: string, lookupName: Lookup): Promise<readonly string[]> {
  try {
    return await lookupName(name)
  } catch (error) {
    throw new PkgdError('REGISTRY_UNREACHABLE', `${name} has no IPv4 address`, {
      cause: error,
      hint: "check the name and this host's resolver",
    })
  }
}

const loopbackRange = parseCidr('127.0.0.0/8')
const isLoopback = (address: string): boolean => contains(loopbackRange, parseAddress(address) ?? 0)
