import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { execa } from 'execa'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { EgressGuard, EgressPolicy } from '../network/egressGuard.ts'
import type { Subnet } from '../network/subnetPool.ts'

/** A sandbox's own network: a namespace and, in it, one end of a cable whose other end is guarded here. */
export interface PackageNetwork {
  readonly interface: string
  readonly subnet: Subnet
}

/** An interface's name has at most 15 characters; the namespace has the same. */
export const toLinkName = (sandbox: string): string => `pkgb${createHash('sha256').update(sandbox).digest('hex').slice(0, 10)}`

export const toNamespacePath = (link: string): string => `/run/netns/${link}`

const environment = { PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`, LC_ALL: 'C' }
const ip = (args: readonly string[], input?: string) => execa('ip', args, { env: environment, ...(input !== undefined && { input }) })

/** Makes the namespace, cables it and guards the cable before anything runs in it. A failure leaves nothing behind. Errors: NETWORK_UNSUPPORTED. */
export async function createPackageNetwork(sandbox: string, policy: EgressPolicy, egress: EgressGuard): Promise<PackageNetwork> {
  const link = toLinkName(sandbox)
  const subnet = egress.allocate()
  try {
    await ip(['netns', 'add', link])
    await ip(
      ['-batch', '-'],
      [
        `link add ${link} type veth peer name eth0 netns ${link}`,
        `addr add ${subnet.gateway}/${subnet.prefix} dev ${link}`,
        `link set ${link} up`,
        '',
      ].join('\n'),
    )
    await ip(
      ['-n', link, '-batch', '-'],
      [
        'link set lo up',
        `addr add ${subnet.address}/${subnet.prefix} dev eth0`,
        'link set eth0 up',
        `route add default via ${subnet.gateway}`,
        '',
      ].join('\n'),
    )
    await egress.guard({ interface: link, subnet, policy, router: 'pkgd' })
    return { interface: link, subnet }
  } catch (error) {
    await removePackageNetwork(link, egress)
    egress.free(subnet)
    if (error instanceof Error && 'shortMessage' in error) {
      throw new PkgdError('NETWORK_UNSUPPORTED', `The network of ${sandbox} could not be made: ${String(error.shortMessage)}`, {
        cause: error,
      })
    }
    throw error
  }
}

/** Already gone is fine. The rules go last: until then nothing passes that did not before. */
export async function removePackageNetwork(link: string, egress: EgressGuard): Promise<void> {
  await removeObject(['link', 'del', link], `/sys/class/net/${link}`)
  await removeObject(['netns', 'del', link], toNamespacePath(link))
  await egress.release(link)
}

async function removeObject(args: readonly string[], path: string): Promise<void> {
  if (!existsSync(path)) return
  try {
    await ip(args)
  } catch (error) {
    // It went by itself in between: a cable goes with its namespace.
    if (existsSync(path) || hasCode(error, 'ENOENT')) throw error
  }
}
