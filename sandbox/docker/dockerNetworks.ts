import { createHash } from 'node:crypto'
import type { EgressGuard, EgressPolicy } from '../network/egressGuard.ts'
import { daemonLabel, toObjectLabels } from './containerLabels.ts'
import type { ContainerNetwork } from './containerSpec.ts'
import type { ContainerDetails, EngineApi } from './engineApi.ts'

/** The engine's bridges, one a sandbox that may reach something. A sandbox and its network share their name. */
export interface DockerNetworks {
  /** A bridge of its own whose packets are already held to the policy. A failure leaves nothing behind. Errors: NETWORK_UNSUPPORTED. */
  create(name: string, packageId: string, policy: EgressPolicy): Promise<ContainerNetwork>
  /** Already gone is fine. */
  remove(name: string): Promise<void>
  /** Holds the network of a running sandbox that a former daemon started; once in this daemon's life. */
  adopt(name: string, details: ContainerDetails): Promise<void>
  /** Removes networks whose sandbox is gone: a daemon died between the two removals. */
  sweep(live: ReadonlySet<string>): Promise<void>
}

export interface DockerNetworksDeps {
  readonly api: EngineApi
  readonly egress: EgressGuard
  readonly daemonId: string
}

/** An interface's name has at most 15 characters. */
export const toBridgeName = (name: string): string => `pkgd${createHash('sha256').update(name).digest('hex').slice(0, 10)}`

export function createDockerNetworks({ api, egress, daemonId }: DockerNetworksDeps): DockerNetworks {
  const held = new Set<string>()
  const label = daemonLabel(daemonId)

  async function remove(name: string): Promise<void> {
    const removed = await api.removeNetwork(name)
    if (removed || held.has(name)) await egress.release(toBridgeName(name))
    held.delete(name)
  }

  return {
    async create(name, packageId, policy) {
      const taken = (await api.listNetworks([])).flatMap(({ subnets }) => subnets.filter((subnet) => !subnet.includes(':')))
      const subnet = egress.allocate(taken)
      try {
        await api.createNetwork({
          Name: name,
          Driver: 'bridge',
          CheckDuplicate: true,
          EnableIPv6: false,
          Internal: false,
          Labels: toObjectLabels({ daemon: daemonId, packageId }),
          IPAM: { Driver: 'default', Config: [{ Subnet: subnet.cidr, Gateway: subnet.gateway }] },
          Options: { 'com.docker.network.bridge.name': toBridgeName(name), 'com.docker.network.bridge.enable_icc': 'false' },
        })
        await egress.guard({ interface: toBridgeName(name), subnet, policy, router: 'engine' })
      } catch (error) {
        await remove(name)
        egress.free(subnet)
        throw error
      }
      held.add(name)
      return { name, address: subnet.address, resolver: subnet.gateway }
    },
    remove,
    async adopt(name, details) {
      if (held.has(name)) return
      const at = details.NetworkSettings.Networks[name]
      if (!at) return
      held.add(name)
      const prefix = at.IPPrefixLen
      const cidr = (await api.listNetworks([label])).find((network) => network.name === name)?.subnets[0] ?? `${at.IPAddress}/${prefix}`
      const subnet = { cidr, gateway: at.Gateway, address: at.IPAddress, prefix }
      await egress.guard({ interface: toBridgeName(name), subnet, policy: { mode: 'internet' }, router: 'engine' })
    },
    async sweep(live) {
      const networks = await api.listNetworks([label])
      for (const { name } of networks) if (!live.has(name)) await remove(name)
    },
  }
}
