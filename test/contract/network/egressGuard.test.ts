import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clock, type Logger, systemClock } from '../../../daemon/core/ports.ts'
import { createEgressGuard, type EgressGuard, type EgressPolicy } from '../../../sandbox/network/egressGuard.ts'
import { createNamespaces } from './namespaces.ts'

const log: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const daemonId = randomBytes(4).toString('hex')
const pool = '10.213.64.0/24'
const refused = /^(EHOSTUNREACH|EACCES|ECONNREFUSED)$/

const create = (options: { allowPrivate?: string[]; daemonId?: string; clock?: Clock; log?: Logger } = {}) =>
  createEgressGuard({ daemonId, pool, allowPrivate: [], resolvers: ['198.51.100.7'], clock: systemClock, log, ...options })

const savedRules = async (id = daemonId) => (await execa('iptables-save')).stdout.split('\n').filter((line) => line.includes(`PKGD-${id}`))
const unguarded = await create().unavailable()

describe.skipIf(unguarded !== null)(`egress guard${unguarded === null ? '' : ` (skipped: ${unguarded})`}`, () => {
  let world: Awaited<ReturnType<typeof createNamespaces>>
  let guard: EgressGuard
  let hostService: Server
  let before: string
  const guardedInterfaces = new Set<string>()

  beforeAll(async () => {
    before = withoutCounters((await execa('iptables-save')).stdout)
    world = await createNamespaces()
    guard = create()
    hostService = createServer((socket) => socket.end('host\n'))
    await new Promise<void>((resolve) => hostService.listen(world.far.port, '0.0.0.0', resolve))
  })

  afterAll(async () => {
    for (const name of guardedInterfaces) await guard.release(name)
    await guard.close()
    await new Promise((resolve) => hostService.close(resolve))
    await world.remove()
  })

  const addPackage = async (policy: EgressPolicy, by: EgressGuard = guard) => {
    const box = await world.addPackage(by.allocate())
    guardedInterfaces.add(box.interface)
    await by.guard({ interface: box.interface, subnet: box.subnet, policy, router: 'pkgd' })
    return box
  }
  const tcp = (address: string) => ['tcp', address, String(world.far.port)] as const

  it("internet: reaches a public address under the host's own, and no private or metadata one", async () => {
    const box = await addPackage({ mode: 'internet' })
    expect(await box.probe(...tcp(world.far.address))).toContain(world.far.near)
    expect(await box.probe(...tcp(world.far.private))).toMatch(refused)
    expect(await box.probe(...tcp(world.far.metadata))).toMatch(refused)
    await guard.release(box.interface)
  })

  it('internet: reaches none of the addresses of this host', async () => {
    const box = await addPackage({ mode: 'internet' })
    const addresses = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
    expect(addresses.map(({ address }) => address)).toContain(box.subnet.gateway)
    for (const { address } of addresses)
      expect([address, await box.probe(...tcp(address))]).toEqual([address, expect.stringMatching(refused)])
    await guard.release(box.interface)
  })

  it('internet: another package is out of reach in both directions', async () => {
    const one = await addPackage({ mode: 'internet' })
    const two = await addPackage({ mode: 'internet' }, create({ daemonId, allowPrivate: ['10.0.0.0/8'] }))
    expect(await one.probe(...tcp(two.subnet.address))).toMatch(refused)
    expect(await two.probe(...tcp(one.subnet.address))).toMatch(refused)
    expect(await two.probe(...tcp(one.subnet.gateway))).toMatch(refused)
    await guard.release(one.interface)
    await guard.release(two.interface)
  })

  it('internet: names are resolved at the gateway, and nowhere else on this host', async () => {
    const box = await addPackage({ mode: 'internet' })
    expect(await box.probe('dns', box.subnet.gateway, 'example.test', 'A')).toBe('198.51.100.7')
    expect(await box.probe('dns', box.subnet.gateway, 'example.test', 'AAAA')).toBe('ENODATA')
    expect(await box.probe('dns', world.far.near, 'example.test', 'A')).not.toContain('198.51.100.7')
    await guard.release(box.interface)
  })

  it('internet: what the operator allows is reached', async () => {
    const open = create({ allowPrivate: ['10.77.0.0/16'] })
    const box = await addPackage({ mode: 'internet' }, open)
    expect(await box.probe(...tcp(world.far.private))).toMatch(/^open/)
    expect(await box.probe(...tcp(world.far.metadata))).toMatch(refused)
    await open.release(box.interface)
    await open.close()
  })

  it('reach: the pairs it names and nothing else, private or not, by the names it knows', async () => {
    const box = await addPackage({ mode: 'reach', targets: [{ host: world.far.private, port: world.far.port }] })
    expect(await box.probe(...tcp(world.far.private))).toMatch(/^open/)
    expect(await box.probe(...tcp(world.far.address))).toMatch(refused)
    expect(await box.probe('tcp', world.far.private, '53')).toMatch(refused)
    expect(await box.probe('dns', box.subnet.gateway, 'example.test', 'A')).toBe('ENOTFOUND')
    await guard.release(box.interface)
  })

  it('reach: a service on this host that is named, and no other port of it', async () => {
    const box = await addPackage({ mode: 'reach', targets: [{ host: world.far.near, port: world.far.port }] })
    expect(await box.probe(...tcp(world.far.near))).toBe('open host')
    expect(await box.probe('tcp', world.far.near, '22')).toMatch(refused)
    await guard.release(box.interface)
  })

  it('reach: the loopback of this host is refused with the way out', async () => {
    const box = await world.addPackage(guard.allocate())
    const policy: EgressPolicy = { mode: 'reach', targets: [{ host: '127.0.0.1', port: 80 }] }
    await expect(guard.guard({ interface: box.interface, subnet: box.subnet, policy, router: 'pkgd' })).rejects.toMatchObject({
      code: 'NETWORK_UNSUPPORTED',
    })
    guard.free(box.subnet)
  })

  it.each(['none', 'internet'] as const)('%s: where a package listens, the daemon alone reaches it', async (mode) => {
    const box = await addPackage({ mode })
    await box.listen(9001)
    const target = ['tcp', box.subnet.address, '9001'] as const
    expect(await world.probeFromHere(0, ...target)).toBe('open package')
    expect(await world.probeFromHere(65534, ...target)).toMatch(refused)
    expect(await world.probeFromAfar(...target)).toBe('TIMEOUT')
    await guard.release(box.interface)
  })

  it('none: it reaches nothing', async () => {
    const box = await addPackage({ mode: 'none' })
    expect(await box.probe(...tcp(world.far.address))).toMatch(refused)
    expect(await box.probe(...tcp(box.subnet.gateway))).toMatch(refused)
    await guard.release(box.interface)
  })

  it('IPv6 is off on the interface', async () => {
    const box = await addPackage({ mode: 'internet' })
    expect((await readFile(`/proc/sys/net/ipv6/conf/${box.interface}/disable_ipv6`, 'utf8')).trim()).toBe('1')
    await guard.release(box.interface)
  })

  it('guarding again changes nothing, and puts back what was flushed', async () => {
    const box = await addPackage({ mode: 'internet' })
    const first = await savedRules()
    await guard.guard({ interface: box.interface, subnet: box.subnet, policy: { mode: 'internet' }, router: 'pkgd' })
    expect(await savedRules()).toEqual(first)
    await execa('iptables', ['-w', '-D', 'FORWARD', '-j', `PKGD-${daemonId}-FWD`])
    await guard.reassert()
    expect((await savedRules()).toSorted()).toEqual(first.toSorted())
    await guard.release(box.interface)
  })

  it.each(['one package', 'all of them', 'no jump'])(
    'rules that are flushed while a package runs are soon there again, and that is said: %s',
    async (what) => {
      let look: (() => void) | undefined
      const told = Promise.withResolvers<unknown>()
      const clock: Clock = {
        now: () => Date.now(),
        after(_ms, fn) {
          look = fn
          return () => undefined
        },
      }
      const watching = create({ clock, log: { ...log, warn: (_message, fields) => told.resolve(fields) } })
      const box = await addPackage({ mode: 'internet' }, watching)
      const other = await addPackage({ mode: 'internet' }, watching)
      const first = await savedRules()
      const own = [...first.join('\n').matchAll(/^:(PKGD-\S+)/gm)].map(([, chain]) => String(chain))
      const nat = own.filter((chain) => chain.endsWith('-NAT'))
      const flushed =
        { 'one package': [`PKGD-${box.interface}-F`, `PKGD-${box.interface}-I`], 'all of them': own, 'no jump': [] }[what] ?? []
      for (const chain of flushed) await execa('iptables', ['-w', ...(nat.includes(chain) ? ['-t', 'nat'] : []), '-F', chain])
      if (what === 'no jump') await execa('iptables', ['-w', '-D', 'FORWARD', '-j', `PKGD-${daemonId}-FWD`])
      look?.()
      const both = [box.interface, other.interface]
      expect(await told.promise).toEqual({ interfaces: what === 'one package' ? [box.interface] : both })
      expect((await savedRules()).toSorted()).toEqual(first.toSorted())
      expect(await box.probe(...tcp(world.far.private))).toMatch(refused)
      expect(await other.probe(...tcp(world.far.private))).toMatch(refused)
      expect(await other.probe(...tcp(world.far.address))).toContain(world.far.near)
      for (const name of both) await watching.release(name)
      await watching.close()
    },
  )

  it('a next daemon keeps the rules of what lives and removes those of what is gone', async () => {
    const lives = await addPackage({ mode: 'internet' })
    const dies = await addPackage({ mode: 'internet' })
    await guard.close()
    await execa('ip', ['link', 'del', dies.interface])
    const next = create()
    await next.reassert()
    const rules = (await savedRules()).join('\n')
    expect(rules).toContain(lives.interface)
    expect(rules).not.toContain(dies.interface)
    expect(await lives.probe(...tcp(world.far.private))).toMatch(refused)
    await next.release(lives.interface)
    await next.close()
  })

  it('with the last package every trace is gone', async () => {
    const box = await addPackage({ mode: 'internet' })
    expect(await savedRules()).not.toEqual([])
    await guard.release(box.interface)
    await guard.release(box.interface)
    expect(await savedRules()).toEqual([])
    expect(withoutCounters((await execa('iptables-save')).stdout).includes(box.interface)).toBe(false)
    expect(before).not.toContain(`PKGD-${daemonId}`)
  })

  it('an interface that is not on this host is refused', async () => {
    await expect(
      guard.guard({ interface: 'pkgdnope0', subnet: guard.allocate(), policy: { mode: 'none' }, router: 'engine' }),
    ).rejects.toMatchObject({
      code: 'NETWORK_UNSUPPORTED',
    })
  })
})

const withoutCounters = (text: string) => text.replaceAll(/\[\d+:\d+\]/g, '')
