import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { execa } from 'execa'
import { createCleanups } from '../../../daemon/core/disposables.ts'
import type { Subnet } from '../../../sandbox/network/subnetPool.ts'

const far = { address: '198.51.100.7', near: '198.51.100.1', private: '10.77.77.7', metadata: '169.254.169.254', port: 7070 } as const
const script = (name: string) => join(import.meta.dirname, name)
const ip = (...args: string[]) => execa('ip', args)
const unique = () => randomBytes(3).toString('hex')

/** A host with an internet of its own: one namespace that answers on a public, a private and a metadata address, and namespaces that play packages. */
export async function createNamespaces() {
  const cleanups = createCleanups()
  const internet = `pkgdtest-${unique()}`
  const uplink = `pkt${unique()}`
  await ip('netns', 'add', internet)
  cleanups.add(async () => {
    await ip('netns', 'del', internet)
  })
  await ip('link', 'add', uplink, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', internet)
  cleanups.add(async () => {
    await ip('link', 'del', uplink)
  })
  await ip('addr', 'add', `${far.near}/24`, 'dev', uplink)
  await ip('link', 'set', uplink, 'up')
  await ip('-n', internet, 'link', 'set', 'lo', 'up')
  await ip('-n', internet, 'addr', 'add', `${far.address}/24`, 'dev', 'eth0')
  await ip('-n', internet, 'link', 'set', 'eth0', 'up')
  await ip('-n', internet, 'route', 'add', 'default', 'via', far.near)
  for (const address of [far.private, far.metadata]) {
    await ip('-n', internet, 'addr', 'add', `${address}/32`, 'dev', 'lo')
    await ip('route', 'add', `${address}/32`, 'via', far.address, 'dev', uplink)
  }
  const service = execa('ip', ['netns', 'exec', internet, process.execPath, script('farSide.ts'), far.address, String(far.port)])
  cleanups.add(async () => {
    service.kill()
    await service.catch(() => undefined)
  })
  await once(service.stdout, 'data')

  return {
    far,
    /** A veth whose far end is a namespace with the package's address; it has no rules yet. */
    async addPackage(subnet: Subnet) {
      const namespace = `pkgdtest-${unique()}`
      const link = `pkt${unique()}`
      await ip('netns', 'add', namespace)
      cleanups.add(async () => {
        await ip('netns', 'del', namespace)
      })
      await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
      await ip('addr', 'add', `${subnet.gateway}/${subnet.prefix}`, 'dev', link)
      await ip('link', 'set', link, 'up')
      await ip('-n', namespace, 'link', 'set', 'lo', 'up')
      await ip('-n', namespace, 'addr', 'add', `${subnet.address}/${subnet.prefix}`, 'dev', 'eth0')
      await ip('-n', namespace, 'link', 'set', 'eth0', 'up')
      await ip('-n', namespace, 'route', 'add', 'default', 'via', subnet.gateway)
      return {
        interface: link,
        subnet,
        run: async (...args: string[]) => (await execa('ip', ['netns', 'exec', namespace, ...args], { reject: false })).stdout,
        probe: async (...args: string[]) => {
          const { stdout } = await execa('ip', ['netns', 'exec', namespace, process.execPath, script('probe.ts'), ...args])
          return stdout
        },
      }
    },
    remove: () => cleanups.run(),
  }
}
