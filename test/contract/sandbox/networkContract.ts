import { createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missing } from '../../provision/requirements.ts'
import { createNamespaces } from '../network/namespaces.ts'
import type { ContractKit } from './contractKit.ts'
import { plainContext } from './driverBench.ts'
import { readLine } from './eventWitness.ts'

const refused = /^(EHOSTUNREACH|EACCES|ECONNREFUSED|ENETUNREACH)$/
const reason = await missing('netns')

/** What a package with `network: true` reaches, with a namespace that plays the internet: for drivers that enforce that policy. */
export function networkContract({ bench, start }: ContractKit): void {
  describe.skipIf(reason !== null)(`network${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
    let world: Awaited<ReturnType<typeof createNamespaces>>
    let here: Server

    beforeAll(async () => {
      world = await createNamespaces()
      here = createServer((socket) => socket.end('the host\n'))
      await new Promise<void>((resolve) => here.listen(world.far.port, '0.0.0.0', resolve))
    })
    afterAll(async () => {
      await new Promise((resolve) => here.close(resolve))
      await world.remove()
    })

    const enforced = () => bench().confines && bench().capabilities.network.includes('internet')
    const ask = async (channel: Duplex, host: string, port: number = world.far.port) => {
      channel.write(`${host}:${port}\n`)
      return readLine(channel)
    }

    it('internet: a public address and the names of the resolver, no private nor metadata address, nothing of this host', async ({
      skip,
    }) => {
      if (!enforced()) skip('this driver does not enforce it here')
      const handle = await start(['reach'], { network: { mode: 'internet' } })
      expect((await bench().driver.inspect(handle)).network).toBe('internet')
      const channel = await bench().driver.stdio(handle)
      expect(await ask(channel, world.far.address)).toContain('open')
      expect(await ask(channel, 'anything.example')).toContain('open')
      expect(await ask(channel, world.far.private)).toMatch(refused)
      expect(await ask(channel, world.far.metadata)).toMatch(refused)
      const addresses = Object.values(networkInterfaces())
        .flatMap((list) => list ?? [])
        .filter(({ family, internal }) => family === 'IPv4' && !internal)
      for (const { address } of addresses) expect([address, await ask(channel, address)]).toEqual([address, expect.stringMatching(refused)])
    })

    it('internet: no other package', async ({ skip }) => {
      if (!enforced()) skip('this driver does not enforce it here')
      const network = { mode: 'internet' } as const
      const other = await start(['listen', '9001'], { network })
      expect(await readLine(await bench().driver.stdio(other))).toBe('listening')
      const address = await bench().addressOf(other)
      const connection = await bench().driver.dial(other, { port: 9001 })
      connection.write('the daemon alone\n')
      expect(await readLine(connection)).toBe('the daemon alone')
      connection.destroy()
      if (address === null) return
      const channel = await bench().driver.stdio(await start(['reach'], { network }))
      expect(await ask(channel, address, 9001)).toMatch(refused)
    })

    it('internet: goes on under the next daemon, names included', async ({ skip }) => {
      if (!enforced()) skip('this driver does not enforce it here')
      const handle = await start(['reach'], { network: { mode: 'internet' } })
      await bench().nextDaemon()
      const { driver } = bench()
      await driver.list()
      const channel = await driver.stdio(handle)
      expect(await ask(channel, 'anything.example')).toContain('open')
      expect(await ask(channel, world.far.private)).toMatch(refused)
    })

    it('a build reaches what it names and nothing else', async ({ skip }) => {
      if (!enforced() || !bench().capabilities.localMounts) skip('this driver does not enforce it here')
      const before = await bench().traces()
      const { far } = world
      const build = {
        identity: { daemon: bench().daemonId, packageId: 'contract-build', version: '1.0.0', spec: 'contract' },
        image: bench().image,
        command: [
          'node',
          '/programs/reach.mjs',
          `${far.private}:${far.port}`,
          `${far.address}:${far.port}`,
          `${far.private}:${far.port + 1}`,
        ],
        env: {},
        uid: 210_001,
        limits: { memoryBytes: 128 << 20, cpus: 1, pids: 64, tmpBytes: 16 << 20 },
        mounts: [{ source: bench().programs, target: '/programs', readOnly: true }],
        reach: [{ host: far.private, port: far.port }],
      }
      const { output } = await bench().driver.runToEnd(build, plainContext())
      const [named, unnamed, otherPort] = output.trim().split('\n')
      expect(named).toContain('open')
      expect(unnamed).toMatch(refused)
      expect(otherPort).toMatch(refused)
      expect(await bench().traces()).toEqual(before)
    })
  })
}
