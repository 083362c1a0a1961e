import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EgressRequest, type Rule, toForwardRules, toInputRules } from '../../../../sandbox/network/egressRules.ts'
import { contains, formatAddress, parseAddress, parseCidr } from '../../../../sandbox/network/ipv4.ts'
import { privateRanges } from '../../../../sandbox/network/privateRanges.ts'
import { toRuleLine } from '../../../../sandbox/network/ruleLines.ts'
import { pickSubnet } from '../../../../sandbox/network/subnetPool.ts'

interface Packet {
  readonly from: string
  readonly to: string
  readonly protocol: 'tcp' | 'udp'
  readonly port: number
  readonly reply?: boolean
}

const isIn = (cidr: string, address: string) => contains(parseCidr(cidr), parseAddress(address) ?? -1)

/** What the kernel does with a list of rules: the first that matches decides. */
function judge(rules: readonly Rule[], packet: Packet): Rule['verdict'] | 'none' {
  const match = rules.find(
    (rule) =>
      (rule.notFrom === undefined || !isIn(rule.notFrom, packet.from)) &&
      (rule.to === undefined || isIn(rule.to, packet.to)) &&
      (rule.protocol === undefined || rule.protocol === packet.protocol) &&
      (rule.port === undefined || rule.port === packet.port) &&
      (!rule.replies || packet.reply === true),
  )
  return match?.verdict ?? 'none'
}

const subnet = pickSubnet('10.83.0.0/16', [])
const request = (override: Partial<EgressRequest> = {}): EgressRequest => ({
  subnet,
  policy: { mode: 'internet' },
  pool: '10.83.0.0/16',
  allowPrivate: [],
  router: 'pkgd',
  ...override,
})
const packet = (to: string, override: Partial<Packet> = {}): Packet => ({
  from: subnet.address,
  to,
  protocol: 'tcp',
  port: 443,
  ...override,
})
const anyAddress = fc.nat({ max: 0xffffffff }).map(formatAddress)
const anyPacket = fc.record({
  to: anyAddress,
  protocol: fc.constantFrom('tcp' as const, 'udp' as const),
  port: fc.integer({ min: 1, max: 65535 }),
})

describe('mode internet', () => {
  it('forwards to every address that is not private, and to none that is', () => {
    fc.assert(
      fc.property(anyPacket, ({ to, protocol, port }) => {
        const isPrivate = privateRanges.some((range) => isIn(range, to))
        expect(judge(toForwardRules(request()), packet(to, { protocol, port }))).toBe(isPrivate ? 'refuse' : 'accept')
      }),
    )
  })

  it.each([
    ['198.51.100.7', 'accept'],
    ['203.0.113.80', 'accept'],
    ['192.0.2.2', 'accept'],
    ['8.8.8.8', 'accept'],
    ['10.0.0.1', 'refuse'],
    ['10.83.0.6', 'refuse'],
    ['172.31.255.255', 'refuse'],
    ['172.32.0.1', 'accept'],
    ['192.168.1.1', 'refuse'],
    ['100.64.0.1', 'refuse'],
    ['100.100.100.200', 'refuse'],
    ['127.0.0.1', 'refuse'],
    ['169.254.169.254', 'refuse'],
    ['168.63.129.16', 'refuse'],
    ['192.0.0.192', 'refuse'],
    ['224.0.0.251', 'refuse'],
    ['255.255.255.255', 'refuse'],
    ['0.0.0.0', 'refuse'],
  ])('%s: %s', (to, verdict) => {
    expect(judge(toForwardRules(request()), packet(to))).toBe(verdict)
  })

  it("leaves what it allows to the engine's own rules where an engine routes", () => {
    expect(judge(toForwardRules(request({ router: 'engine' })), packet('8.8.8.8'))).toBe('pass')
  })

  it('opens a private range that the operator allows, yet never another package', () => {
    const rules = toForwardRules(request({ allowPrivate: ['10.0.0.0/8'] }))
    expect(judge(rules, packet('10.1.2.3'))).toBe('accept')
    expect(judge(rules, packet('192.168.1.1'))).toBe('refuse')
    expect(judge(rules, packet('10.83.0.6'))).toBe('refuse')
  })

  it('keeps a package to its own addresses', () => {
    expect(judge(toForwardRules(request()), packet('8.8.8.8', { from: '10.83.0.6', reply: true }))).toBe('drop')
    expect(judge(toInputRules(request()), packet(subnet.gateway, { from: '10.83.0.6', port: 53 }))).toBe('drop')
  })

  it('lets nothing reach the host but questions to the resolver at the gateway', () => {
    const rules = toInputRules(request())
    expect(judge(rules, packet(subnet.gateway, { protocol: 'udp', port: 53 }))).toBe('accept')
    expect(judge(rules, packet(subnet.gateway, { protocol: 'tcp', port: 53 }))).toBe('accept')
    fc.assert(
      fc.property(anyPacket, ({ to, protocol, port }) => {
        fc.pre(to !== subnet.gateway)
        expect(judge(rules, packet(to, { protocol, port }))).toBe('refuse')
      }),
    )
    expect(judge(rules, packet(subnet.gateway, { port: 22 }))).toBe('refuse')
  })
})

describe('mode reach', () => {
  const policy = {
    mode: 'reach',
    targets: [
      { address: '10.1.2.3', port: 8443 },
      { address: '8.8.8.8', port: 443 },
    ],
  } as const

  it('is exactly the pairs, private or not, over TCP', () => {
    for (const [rules, open] of [
      [toForwardRules(request({ policy })), 'accept'],
      [toInputRules(request({ policy })), 'pass'],
    ] as const) {
      expect(judge(rules, packet('10.1.2.3', { port: 8443 }))).toBe(open)
      expect(judge(rules, packet('8.8.8.8'))).toBe(open)
      fc.assert(
        fc.property(anyPacket, ({ to, protocol, port }) => {
          fc.pre(!(protocol === 'tcp' && policy.targets.some((target) => target.address === to && target.port === port)))
          fc.pre(!(to === subnet.gateway && port === 53))
          expect(judge(rules, packet(to, { protocol, port }))).toBe('refuse')
        }),
      )
      expect(judge(rules, packet('8.8.8.8', { protocol: 'udp' }))).toBe('refuse')
      expect(judge(rules, packet('8.8.8.8', { port: 80 }))).toBe('refuse')
    }
  })
})

describe('mode none', () => {
  it('is replies to whoever dialled the package, and nothing else', () => {
    const rules = toInputRules(request({ policy: { mode: 'none' } }))
    expect(judge(rules, packet(subnet.gateway, { port: 40000, reply: true }))).toBe('accept')
    expect(judge(rules, packet(subnet.gateway, { port: 53, protocol: 'udp' }))).toBe('refuse')
    expect(judge(toForwardRules(request({ policy: { mode: 'none' } })), packet('8.8.8.8'))).toBe('refuse')
  })
})

describe('toRuleLine', () => {
  it.each<[Rule, string]>([
    [{ verdict: 'accept' }, '-A C -j ACCEPT'],
    [{ notFrom: '10.0.0.0/30', verdict: 'drop' }, '-A C ! -s 10.0.0.0/30 -j DROP'],
    [{ to: '10.0.0.1/32', protocol: 'udp', port: 53, verdict: 'pass' }, '-A C -d 10.0.0.1/32 -p udp --dport 53 -j RETURN'],
    [{ replies: true, verdict: 'accept' }, '-A C -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT'],
    [{ verdict: 'refuse' }, '-A C -j REJECT --reject-with icmp-admin-prohibited'],
  ])('%j', (rule, line) => {
    expect(toRuleLine('C', rule)).toBe(line)
  })
})
