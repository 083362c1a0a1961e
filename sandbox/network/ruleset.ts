import type { Rule } from './egressRules.ts'
import { toRuleLine } from './ruleLines.ts'

/** The rules that guard one interface. */
export interface InterfaceRules {
  readonly interface: string
  readonly forward: readonly Rule[]
  readonly input: readonly Rule[]
  /** The user that may open connections towards the package from this host. */
  readonly owner: number
  /** Whether answers to the package are let in here, or left to the rules of the engine that routes for it. */
  readonly acceptReplies: boolean
}

/** An interface whose packets leave under the host's own address. */
export interface Masquerade {
  readonly interface: string
  readonly subnet: string
}

export type Change<T> = { readonly set: T } | { readonly remove: readonly string[] } | { readonly keep: true }

interface Saved {
  readonly chains: ReadonlySet<string>
  readonly rules: readonly string[]
}

/** Reads the output of `iptables-save -t <table>`. */
export function parseSaved(text: string): Saved {
  const lines = text.split('\n')
  return {
    chains: new Set(lines.filter((line) => line.startsWith(':')).map((line) => line.slice(1).split(' ')[0] ?? '')),
    rules: lines.filter((line) => line.startsWith('-A ')),
  }
}

const dispatchers = (daemonId: string) =>
  ({ forward: `PKGD-${daemonId}-FWD`, input: `PKGD-${daemonId}-IN`, output: `PKGD-${daemonId}-OUT`, nat: `PKGD-${daemonId}-NAT` }) as const

/** Chain names are at most 28 characters; an interface's name is at most 15. */
const forwardChain = (name: string) => `PKGD-${name}-F`
const inputChain = (name: string) => `PKGD-${name}-I`

const interfaceOf = (rule: string): string | undefined => / -[io] (\S+)/.exec(rule)?.[1]
const isChain = (rule: string, chain: string) => rule.startsWith(`-A ${chain} `)

/** The interfaces that this daemon's rules name. */
export function listGuarded(saved: Saved, daemonId: string): string[] {
  const { forward, nat } = dispatchers(daemonId)
  const named = saved.rules.filter((rule) => isChain(rule, forward) || isChain(rule, nat)).map(interfaceOf)
  return [...new Set(named)].filter((name) => name !== undefined)
}

/** What the two tables hold for one interface. */
export interface HeldRules {
  readonly rules: InterfaceRules
  readonly masquerade: Masquerade | null
}

/** Whether as many rules as were set for an interface are in both tables: a firewall that is restarted flushes chains, it does not rewrite another's rules. */
export function isWhole(filter: Saved, nat: Saved, daemonId: string, { rules, masquerade }: HeldRules): boolean {
  const names = dispatchers(daemonId)
  const name = rules.interface
  const count = (saved: Saved, chain: string) => saved.rules.filter((rule) => isChain(rule, chain)).length
  const naming = (saved: Saved, chain: string) => saved.rules.filter((rule) => isChain(rule, chain) && interfaceOf(rule) === name).length
  return (
    count(filter, forwardChain(name)) === rules.forward.length &&
    count(filter, inputChain(name)) === rules.input.length &&
    naming(filter, names.forward) === (rules.acceptReplies ? 3 : 2) &&
    naming(filter, names.input) === 1 &&
    naming(filter, names.output) === 1 &&
    naming(nat, names.nat) === (masquerade === null ? 0 : 1)
  )
}

/**
 * What `iptables-restore --noflush` must be told so that the filter table holds the change, in one transaction; null when it holds it already.
 * Only chains of this daemon and the jumps to them are ever named. With the last interface everything of ours goes.
 */
export function planFilter(saved: Saved, daemonId: string, change: Change<InterfaceRules>): string | null {
  const names = dispatchers(daemonId)
  const gone = toGone(change)
  const kept = (chain: string) => saved.rules.filter((rule) => isChain(rule, chain) && !gone.has(interfaceOf(rule) ?? ''))
  const rules = { forward: kept(names.forward), input: kept(names.input), output: kept(names.output) }
  const own: string[] = []
  const lines: string[] = []
  if ('set' in change) {
    const name = change.set.interface
    lines.push(`:${forwardChain(name)} - [0:0]`, `:${inputChain(name)} - [0:0]`)
    own.push(...change.set.forward.map((rule) => toRuleLine(forwardChain(name), rule)))
    own.push(...change.set.input.map((rule) => toRuleLine(inputChain(name), rule)))
    // A sender is judged, and answered, before the receiver's interface drops what nobody asked for.
    rules.forward.unshift(`-A ${names.forward} -i ${name} -j ${forwardChain(name)}`)
    rules.forward.push(
      `-A ${names.forward} -o ${name} -m conntrack ! --ctstate RELATED,ESTABLISHED -j DROP`,
      ...(change.set.acceptReplies ? [`-A ${names.forward} -o ${name} -j ACCEPT`] : []),
    )
    rules.input.push(`-A ${names.input} -i ${name} -j ${inputChain(name)}`)
    rules.output.push(`-A ${names.output} -o ${name} -m conntrack --ctstate NEW -m owner ! --uid-owner ${change.set.owner} -j REJECT`)
  }
  const parents = [
    ...(saved.chains.has('DOCKER-USER') ? [{ parent: 'DOCKER-USER', chain: names.forward }] : []),
    { parent: 'FORWARD', chain: names.forward },
    { parent: 'INPUT', chain: names.input },
    { parent: 'OUTPUT', chain: names.output },
  ]
  const isOthers = (rule: string) => !isChain(rule, names.forward) && !isChain(rule, names.input)
  // Also where somebody flushed what led to them, but never what another daemon's rules lead to.
  const dead = [...gone]
    .flatMap((name) => [forwardChain(name), inputChain(name)])
    .filter((chain) => saved.chains.has(chain) && !saved.rules.some((rule) => rule.endsWith(` -j ${chain}`) && isOthers(rule)))
  const chains = [
    { chain: names.forward, rules: rules.forward },
    { chain: names.input, rules: rules.input },
    { chain: names.output, rules: rules.output },
  ]
  return assemble('filter', saved, { chains, parents, head: lines, body: own, dead: 'set' in change ? [] : dead, force: 'set' in change })
}

/** The same for the nat table. */
export function planNat(saved: Saved, daemonId: string, change: Change<Masquerade>): string | null {
  const { nat } = dispatchers(daemonId)
  const gone = toGone(change)
  const rules = saved.rules.filter((rule) => isChain(rule, nat) && !gone.has(interfaceOf(rule) ?? ''))
  if ('set' in change) rules.push(`-A ${nat} -s ${change.set.subnet} ! -o ${change.set.interface} -j MASQUERADE`)
  const parents = [{ parent: 'POSTROUTING', chain: nat }]
  return assemble('nat', saved, { chains: [{ chain: nat, rules }], parents, head: [], body: [], dead: [], force: false })
}

const toGone = (change: Change<{ interface: string }>): ReadonlySet<string> =>
  new Set('set' in change ? [change.set.interface] : 'remove' in change ? change.remove : [])

interface Assembly {
  readonly chains: readonly { readonly chain: string; readonly rules: readonly string[] }[]
  readonly parents: readonly { readonly parent: string; readonly chain: string }[]
  readonly head: readonly string[]
  readonly body: readonly string[]
  readonly dead: readonly string[]
  readonly force: boolean
}

function assemble(table: string, saved: Saved, { chains, parents, head, body, dead, force }: Assembly): string | null {
  const empty = chains.every(({ rules }) => rules.length === 0)
  const jumps = parents.flatMap(({ parent, chain }) => planJump(saved, parent, chain, empty))
  const present = chains.filter(({ chain }) => saved.chains.has(chain))
  const changed = chains.some(({ chain, rules }) => !sameRules(saved, chain, rules))
  if (empty && present.length === 0 && dead.length === 0) return null
  if (!force && !changed && !empty && jumps.length === 0 && dead.length === 0) return null
  const lines = empty
    ? [
        ...jumps,
        ...present.flatMap(({ chain }) => [`-F ${chain}`]),
        ...dead.map((chain) => `-F ${chain}`),
        ...[...present.map(({ chain }) => chain), ...dead].map((chain) => `-X ${chain}`),
      ]
    : [
        ...chains.map(({ chain }) => `:${chain} - [0:0]`),
        ...head,
        ...body,
        ...chains.flatMap(({ rules }) => rules),
        ...jumps,
        ...dead.flatMap((chain) => [`-F ${chain}`, `-X ${chain}`]),
      ]
  return [`*${table}`, ...lines, 'COMMIT', ''].join('\n')
}

const sameRules = (saved: Saved, chain: string, rules: readonly string[]) =>
  saved.chains.has(chain) && saved.rules.filter((rule) => isChain(rule, chain)).join('\n') === rules.join('\n')

/** A jump stands first in its parent, or behind the jumps of other daemons alone. */
function planJump(saved: Saved, parent: string, chain: string, remove: boolean): string[] {
  const rules = saved.rules.filter((rule) => isChain(rule, parent))
  const jump = `-A ${parent} -j ${chain}`
  const ours = rules.filter((rule) => rule === jump)
  const deletions = ours.map(() => `-D ${parent} -j ${chain}`)
  if (remove) return deletions
  const ahead = rules.slice(0, rules.indexOf(jump))
  const placed = ours.length === 1 && ahead.every((rule) => / -j PKGD-[0-9a-f]{8}-/.test(rule))
  return placed ? [] : [...deletions, `-I ${parent} 1 -j ${chain}`]
}
