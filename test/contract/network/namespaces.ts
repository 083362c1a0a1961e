import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { createCleanups } from '../../../daemon/core/disposables.ts'
import type { Subnet } from '../../../sandbox/network/subnetPool.ts'

const far = { address: '198.51.100.7', near: '198.51.100.1', private: '10.77.77.7', metadata: '169.254.169.254', port: 7070 } as const
const script = (name: string) => join(import.meta.dirname, name)
const ip = (...args: string[]) => execa('ip', args)
const unique = () => randomBytes(3).toString('hex')

/** This host's addresses and routes are one for all: whoever else makes such a world waits. The lock goes with the process that holds it. */
async function lockAddresses(): Promise<() => Promise<void>> {
  const holder = spawn('flock', [join(tmpdir(), 'pkgd-test-network.lock'), 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  return async () => {
    const released = once(holder, 'exit')
    holder.stdin.end()
    await released
  }
}

/** What a run that was killed left behind; with the lock held nobody else's is here. */
async function removeLeftovers(): Promise<void> {
  const { stdout: links } = await execa('ip', ['-o', 'link', 'show', 'type', 'veth'])
  for (const [, name] of links.matchAll(/^\d+: (pkt[0-9a-f]{6})@/gm)) if (name) await ip('link', 'del', name)
  const { stdout: namespaces } = await ip('netns', 'list')
  for (const [name] of namespaces.matchAll(/^pkgdtest-[0-9a-f]{6}/gm)) await ip('netns', 'del', name)
}

/** A host with an internet of its own: one namespace that answers on a public, a private and a metadata address, and namespaces that play packages. */
export async function createNamespaces() {
  const cleanups = createCleanups()
  cleanups.add(await lockAddresses())
  try {
    await removeLeftovers()
    return await build(cleanups)
  } catch (error) {
    await cleanups.run()
    throw error
  }
}

async function build(cleanups: ReturnType<typeof createCleanups>) {
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
        /** The package listens on a port from now on. */
        async listen(port: number) {
          const listener = execa('ip', ['netns', 'exec', namespace, process.execPath, script('probe.ts'), 'listen', String(port)])
          cleanups.add(async () => {
            listener.kill()
            await listener.catch(() => undefined)
          })
          await once(listener.stdout, 'data')
        },
        probe: async (...args: string[]) => {
          const { stdout } = await execa('ip', ['netns', 'exec', namespace, process.execPath, script('probe.ts'), ...args])
          return stdout
        },
      }
    },
    /** Tries from the far side, where a route to this host's packages is taken for granted. */
    async probeFromAfar(...args: string[]) {
      const { stdout } = await execa('ip', ['netns', 'exec', internet, process.execPath, script('probe.ts'), ...args])
      return stdout
    },
    /** Tries from this host, as a user. */
    async probeFromHere(uid: number, ...args: string[]) {
      const { stdout } = await execa(process.execPath, [script('probe.ts'), ...args], { uid, gid: uid })
      return stdout
    },
    remove: () => cleanups.run(),
  }
}
