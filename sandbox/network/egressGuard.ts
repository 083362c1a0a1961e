import { existsSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { Clock, Logger } from '../../daemon/core/ports.ts'
import { readConnectedNetworks } from './connectedNetworks.ts'
import type { AddressPolicy } from './egressRules.ts'
import { toForwardRules, toInputRules } from './egressRules.ts'
import { createIptables } from './iptables.ts'
import { parseCidr } from './ipv4.ts'
import { resolveReach } from './resolveReach.ts'
import { createResolver, type NamePolicy, type Resolver } from './resolver.ts'
import { createRulesWatch } from './rulesWatch.ts'
import { pickSubnet, type Subnet } from './subnetPool.ts'
import { readHostResolvers } from './upstreamResolver.ts'

/** What may leave a package's interface. `reach` is these names (or addresses) and ports and nothing else, private or not. */
export type EgressPolicy =
  | { readonly mode: 'none' }
  | { readonly mode: 'internet' }
  | { readonly mode: 'reach'; readonly targets: readonly { readonly host: string; readonly port: number }[] }

export interface GuardRequest {
  /** The interface on this host whose other end is the package: a bridge with one container, or a veth. It exists and has the gateway's address. */
  readonly interface: string
  readonly subnet: Subnet
  readonly policy: EgressPolicy
  /** `engine`: a container engine forwards and masquerades for it. `pkgd`: it is ours, so the guard does both. */
  readonly router: 'engine' | 'pkgd'
}

/** Enforces the network policies of packages in this host's packet filter. One interface is one package. */
export interface EgressGuard {
  /** Why nothing can be enforced here, or null. */
  unavailable(): Promise<string | null>
  /** A free subnet, kept back until it is freed or its interface released. `taken` are the engine's networks (CIDR). Errors: NETWORK_UNSUPPORTED. */
  allocate(taken?: readonly string[]): Subnet
  /** Gives back a subnet that no interface was guarded with. */
  free(subnet: Subnet): void
  /**
   * Rules first, then the resolver at the gateway. Before the package runs; again for a sandbox that is adopted (the rules outlived the daemon, its resolver did not).
   * Errors: NETWORK_UNSUPPORTED.
   */
  guard(request: GuardRequest): Promise<void>
  /** Takes back all that `guard` did. Not guarded is fine. */
  release(name: string): Promise<void>
  /**
   * Puts rules back that are gone or no longer in front, after the engine or a firewall was restarted, and removes those of interfaces that are gone. While
   * anything is guarded this is also done from time to time.
   */
  reassert(): Promise<void>
  /** Stops the resolvers. The rules stay: packages outlive the daemon, and so does what holds them. */
  close(): Promise<void>
}

export interface EgressGuardOptions {
  readonly daemonId: string
  /** CIDR that package networks are cut from. */
  readonly pool: string
  /** CIDRs that `internet` may reach though they are private, the host's own addresses among them. */
  readonly allowPrivate: readonly string[]
  /** Resolvers to ask; the host's own when empty. */
  readonly resolvers: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

interface Guarded {
  readonly subnet: Subnet
  readonly resolver: Resolver | null
}

export function createEgressGuard({ daemonId, pool, allowPrivate, resolvers, clock, log }: EgressGuardOptions): EgressGuard {
  for (const cidr of [pool, ...allowPrivate]) parseCidr(cidr)
  const iptables = createIptables(daemonId)
  const guarded = new Map<string, Guarded>()
  const reserved = new Set<string>()
  let swept: Promise<void> | undefined

  const sweep = async () => {
    const gone = [...(await iptables.listGuarded()), ...guarded.keys()].filter((name) => !interfaceExists(name))
    if (gone.length > 0) await iptables.remove(gone)
  }
  const sweepOnce = () => {
    swept ??= sweep()
    return swept
  }

  const reassert = async () => {
    await sweep()
    const lost = await iptables.reassert()
    if (lost.length > 0) log.warn('The packet filter rules of packages were gone, and have been set again', { interfaces: lost })
  }
  const watch = createRulesWatch({ clock, log, isNeeded: () => guarded.size > 0, check: reassert })

  const forget = async (name: string) => {
    const former = guarded.get(name)
    guarded.delete(name)
    await former?.resolver?.close()
    return former
  }

  return {
    async unavailable() {
      if (process.platform !== 'linux') return 'this host has no Linux packet filter'
      if (process.getuid?.() !== 0) return 'the daemon does not run as root, so it cannot set packet filter rules'
      const forwarding = await readFile('/proc/sys/net/ipv4/ip_forward', 'utf8')
      if (forwarding.trim() !== '1') return 'IPv4 forwarding is off on this host (sysctl net.ipv4.ip_forward)'
      return iptables.unavailable()
    },

    allocate(taken = []) {
      const inUse = [...guarded.values()].map(({ subnet }) => subnet.cidr)
      const subnet = pickSubnet(pool, [...taken, ...inUse, ...reserved, ...readConnectedNetworks(pool)])
      reserved.add(subnet.cidr)
      return subnet
    },

    free: (subnet) => {
      reserved.delete(subnet.cidr)
    },

    async guard({ interface: name, subnet, policy, router }) {
      checkInterface(name)
      await sweepOnce()
      const { addresses, names } = await toAddresses(policy, resolvers)
      await disableIpv6(name)
      const request = { subnet, policy: addresses, pool, allowPrivate, router }
      await iptables.set(
        {
          interface: name,
          forward: toForwardRules(request),
          input: toInputRules(request),
          owner: process.getuid?.() ?? 0,
          acceptReplies: router === 'pkgd',
        },
        router === 'pkgd' ? { interface: name, subnet: subnet.cidr } : null,
      )
      await forget(name)
      const resolver = names ? await listen(subnet.gateway, names, log) : null
      guarded.set(name, { subnet, resolver })
      watch.begin()
      reserved.delete(subnet.cidr)
    },

    async release(name) {
      const former = await forget(name)
      await iptables.remove([name])
      if (former) reserved.delete(former.subnet.cidr)
    },

    reassert,

    async close() {
      watch.end()
      await Promise.all([...guarded.keys()].map(forget))
    },
  }
}

/** The policy in addresses, and what the resolver answers; null for no resolver. */
async function toAddresses(
  policy: EgressPolicy,
  resolvers: readonly string[],
): Promise<{ addresses: AddressPolicy; names: NamePolicy | null }> {
  switch (policy.mode) {
    case 'none':
      return { addresses: policy, names: null }
    case 'internet':
      return { addresses: policy, names: { forward: resolvers.length > 0 ? resolvers : await readHostResolvers() } }
    case 'reach': {
      const { targets, pinned } = await resolveReach(policy.targets)
      return { addresses: { mode: 'reach', targets }, names: { pinned } }
    }
  }
}

async function listen(address: string, names: NamePolicy, log: Logger): Promise<Resolver> {
  try {
    return await createResolver({ address, names, log })
  } catch (error) {
    const taken = hasCode(error, 'EADDRINUSE')
    throw new PkgdError('NETWORK_UNSUPPORTED', `The resolver of a package cannot listen on ${address}:53`, {
      cause: error,
      ...(taken && { hint: 'another DNS server listens on every address of this host; bind it to its own addresses' }),
    })
  }
}

const interfaceExists = (name: string) => existsSync(`/sys/class/net/${name}`)

function checkInterface(name: string): void {
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,14}$/.test(name)) throw new PkgdError('INTERNAL', `"${name}" is no interface name for a package`)
  if (interfaceExists(name)) return
  throw new PkgdError('NETWORK_UNSUPPORTED', `The interface ${name} is not on this host, so its packets cannot be filtered here`, {
    hint: 'run the daemon on the host of the container engine, or give the package no network',
  })
}

/** The rules are IPv4's. With IPv6 off on the interface the kernel takes no such packet from it at all. */
async function disableIpv6(name: string): Promise<void> {
  const path = `/proc/sys/net/ipv6/conf/${name}/disable_ipv6`
  if (!existsSync(path)) return
  await writeFile(path, '1')
  if (readFileSync(path, 'utf8').trim() !== '1') {
    throw new PkgdError('NETWORK_UNSUPPORTED', `IPv6 cannot be turned off on ${name}, and packages have no IPv6 rules`)
  }
}
