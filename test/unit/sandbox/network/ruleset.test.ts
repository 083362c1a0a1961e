import { describe, expect, it } from 'vitest'
import { type InterfaceRules, isWhole, listGuarded, parseSaved, planFilter, planNat } from '../../../../sandbox/network/ruleset.ts'

const daemon = 'aaaaaaaa'
const rules = (name: string): InterfaceRules => ({
  interface: name,
  forward: [{ verdict: 'refuse' }],
  input: [{ verdict: 'drop' }],
  owner: 0,
  acceptReplies: true,
})

const bare =
  ':INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n-A INPUT -s 9.9.9.9/32 -j DROP\n-A FORWARD -i docker0 -j ACCEPT\n'

/** Applies a plan as the kernel would, so that a second plan sees what the first one made. */
function apply(saved: string, plan: string | null): string {
  const state = parseSaved(saved)
  const chains = new Set(state.chains)
  let lines = [...state.rules]
  for (const line of (plan ?? '').split('\n')) {
    const [verb = '', chain = '', ...rest] = line.split(' ')
    if (verb.startsWith(':')) {
      chains.add(verb.slice(1))
      lines = lines.filter((rule) => !rule.startsWith(`-A ${verb.slice(1)} `))
    } else if (verb === '-A') lines.push(line)
    else if (verb === '-I') lines.unshift(`-A ${chain} ${rest.slice(1).join(' ')}`)
    else if (verb === '-D') {
      const at = lines.indexOf(`-A ${chain} ${rest.join(' ')}`)
      expect(at).toBeGreaterThanOrEqual(0)
      lines.splice(at, 1)
    } else if (verb === '-F') lines = lines.filter((rule) => !rule.startsWith(`-A ${chain} `))
    else if (verb === '-X') {
      expect(lines.filter((rule) => rule.endsWith(`-j ${chain}`))).toEqual([])
      chains.delete(chain)
    }
  }
  return [...[...chains].map((chain) => `:${chain} - [0:0]`), ...lines].join('\n')
}

const set = (saved: string, name: string) => apply(saved, planFilter(parseSaved(saved), daemon, { set: rules(name) }))

describe('planFilter', () => {
  it('makes the chains of an interface, and jumps to them before all else', () => {
    const { chains, rules: lines } = parseSaved(set(bare, 'pk0'))
    expect(chains).toContain('PKGD-pk0-F')
    expect(lines.find((line) => line.startsWith('-A FORWARD '))).toBe('-A FORWARD -j PKGD-aaaaaaaa-FWD')
    expect(lines.find((line) => line.startsWith('-A INPUT '))).toBe('-A INPUT -j PKGD-aaaaaaaa-IN')
    expect(lines).toContain('-A PKGD-aaaaaaaa-FWD -i pk0 -j PKGD-pk0-F')
    expect(lines).toContain('-A PKGD-aaaaaaaa-FWD -o pk0 -m conntrack ! --ctstate RELATED,ESTABLISHED -j DROP')
    expect(lines).toContain('-A INPUT -s 9.9.9.9/32 -j DROP')
  })

  it("stands in the engine's chain for users' rules where there is one", () => {
    const saved = set(`${bare}:DOCKER-USER - [0:0]\n-A DOCKER-USER -j RETURN\n`, 'pk0')
    expect(parseSaved(saved).rules.find((line) => line.startsWith('-A DOCKER-USER '))).toBe('-A DOCKER-USER -j PKGD-aaaaaaaa-FWD')
  })

  it('set twice is as set once, and leaves other interfaces alone', () => {
    const once = set(set(bare, 'pk0'), 'pk1')
    const twice = set(once, 'pk0')
    expect(parseSaved(twice).rules.toSorted()).toEqual(parseSaved(once).rules.toSorted())
    expect(listGuarded(parseSaved(twice), daemon).toSorted()).toEqual(['pk0', 'pk1'])
  })

  it('removes one interface, and with the last one every trace', () => {
    const both = set(set(bare, 'pk0'), 'pk1')
    const one = apply(both, planFilter(parseSaved(both), daemon, { remove: ['pk0'] }))
    expect(listGuarded(parseSaved(one), daemon)).toEqual(['pk1'])
    expect(parseSaved(one).chains).not.toContain('PKGD-pk0-F')
    const none = apply(one, planFilter(parseSaved(one), daemon, { remove: ['pk1'] }))
    expect(parseSaved(none)).toEqual(parseSaved(bare))
    expect(planFilter(parseSaved(none), daemon, { remove: ['pk1'] })).toBeNull()
  })

  it('puts a jump back that something has moved behind its own rules, and writes nothing when all is in place', () => {
    const saved = set(bare, 'pk0')
    expect(planFilter(parseSaved(saved), daemon, { keep: true })).toBeNull()
    const pushed = saved.replace('-A FORWARD -j PKGD', '-A FORWARD -i br-1 -j ACCEPT\n-A FORWARD -j PKGD')
    const again = apply(pushed, planFilter(parseSaved(pushed), daemon, { keep: true }))
    expect(parseSaved(again).rules.filter((line) => line.startsWith('-A FORWARD '))).toEqual([
      '-A FORWARD -j PKGD-aaaaaaaa-FWD',
      '-A FORWARD -i br-1 -j ACCEPT',
      '-A FORWARD -i docker0 -j ACCEPT',
    ])
    const flushed = saved.replace('-A FORWARD -j PKGD-aaaaaaaa-FWD\n', '')
    const restored = parseSaved(apply(flushed, planFilter(parseSaved(flushed), daemon, { keep: true })))
    expect(restored.rules.toSorted()).toEqual(parseSaved(saved).rules.toSorted())
    expect(restored.rules[0]).toBe('-A FORWARD -j PKGD-aaaaaaaa-FWD')
  })

  it('does not fight with another daemon for the first place, nor touch its chains', () => {
    const mine = set(bare, 'pk0')
    const theirs = apply(mine, planFilter(parseSaved(mine), 'bbbbbbbb', { set: rules('pk9') }))
    expect(planFilter(parseSaved(theirs), daemon, { keep: true })).toBeNull()
    const left = apply(theirs, planFilter(parseSaved(theirs), daemon, { remove: ['pk0', 'pk9'] }))
    expect(listGuarded(parseSaved(left), 'bbbbbbbb')).toEqual(['pk9'])
  })
})

describe('planNat', () => {
  const nat = ':POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -s 172.17.0.0/16 -j MASQUERADE\n'

  it('masquerades what leaves through other interfaces, and takes it back', () => {
    const saved = apply(nat, planNat(parseSaved(nat), daemon, { set: { interface: 'pk0', subnet: '10.83.0.0/30' } }))
    expect(parseSaved(saved).rules).toContain('-A PKGD-aaaaaaaa-NAT -s 10.83.0.0/30 ! -o pk0 -j MASQUERADE')
    expect(parseSaved(apply(saved, planNat(parseSaved(saved), daemon, { remove: ['pk0'] })))).toEqual(parseSaved(nat))
  })

  it('writes nothing where nothing is masqueraded', () => {
    expect(planNat(parseSaved(nat), daemon, { remove: ['pk0'] })).toBeNull()
    expect(planNat(parseSaved(nat), daemon, { keep: true })).toBeNull()
  })
})

describe('isWhole', () => {
  const held = { rules: rules('pk0'), masquerade: { interface: 'pk0', subnet: '10.0.0.0/30' } }
  const filter = set(set(bare, 'pk0'), 'pk1')
  const nat = apply(':POSTROUTING ACCEPT [0:0]', planNat(parseSaved(':POSTROUTING ACCEPT [0:0]'), daemon, { set: held.masquerade }))
  const judge = (filterText: string, natText: string) => isWhole(parseSaved(filterText), parseSaved(natText), daemon, held)

  it('is true of what was set, whatever other interfaces have', () => {
    expect(judge(filter, nat)).toBe(true)
    expect(judge(set(bare, 'pk0'), nat)).toBe(true)
  })

  it('is false when any rule of the interface is gone', () => {
    const own = (text: string) => text.split('\n').filter((line) => line.startsWith('-A PKGD-') && line.includes('pk0'))
    const without = (text: string, gone: string) =>
      text
        .split('\n')
        .filter((line) => line !== gone)
        .join('\n')
    for (const line of own(filter)) expect([line, judge(without(filter, line), nat)]).toEqual([line, false])
    for (const line of own(nat)) expect([line, judge(filter, without(nat, line))]).toEqual([line, false])
    expect(own(filter)).toHaveLength(7)
    expect(judge(bare, nat)).toBe(false)
  })
})

it('an interface whose jumps were flushed leaves no chain behind when it goes', () => {
  const flushed = set(bare, 'pk0')
    .split('\n')
    .filter((line) => !/^-A (PKGD-aaaaaaaa|FORWARD -j|INPUT -j|OUTPUT -j)/.test(line))
    .join('\n')
  expect(parseSaved(flushed).chains).toContain('PKGD-pk0-F')
  const { chains } = parseSaved(apply(flushed, planFilter(parseSaved(flushed), daemon, { remove: ['pk0'] })))
  expect([...chains].filter((chain) => chain.startsWith('PKGD-'))).toEqual([])
})
