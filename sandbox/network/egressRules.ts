import { privateRanges } from './privateRanges.ts'
import type { Subnet } from './subnetPool.ts'

/** What leaves a package's interface. `reach` is these addresses and ports and nothing else, private or not. */
export type AddressPolicy =
  | { readonly mode: 'none' }
  | { readonly mode: 'internet' }
  | { readonly mode: 'reach'; readonly targets: readonly { readonly address: string; readonly port: number }[] }

/**
 * One rule. `accept` ends the matter, `pass` leaves it to whatever rules the host has besides, `refuse` answers the sender with an error, `drop` does not.
 * An absent match matches everything.
 */
export interface Rule {
  readonly to?: string
  readonly notFrom?: string
  readonly protocol?: 'tcp' | 'udp'
  readonly port?: number
  /** Only packets of connections that were opened towards the package. */
  readonly replies?: true
  readonly verdict: 'accept' | 'pass' | 'refuse' | 'drop'
}

export interface EgressRequest {
  readonly subnet: Subnet
  readonly policy: AddressPolicy
  /** Where every package's network is cut from: never reachable from another one. */
  readonly pool: string
  /** Private ranges that the operator opens. */
  readonly allowPrivate: readonly string[]
  /**
   * Who routes for the interface: an `engine` has rules of its own that let its bridges out, which come after ours; for `pkgd`'s own interfaces there are none.
   */
  readonly router: 'engine' | 'pkgd'
}

/** What may be forwarded from a package's interface to elsewhere. Order matters; the last rule matches everything. */
export function toForwardRules({ subnet, policy, pool, allowPrivate, router }: EgressRequest): Rule[] {
  const allow = router === 'engine' ? 'pass' : 'accept'
  const head: Rule[] = [
    { notFrom: subnet.cidr, verdict: 'drop' },
    { replies: true, verdict: allow },
  ]
  const tail: Rule = { verdict: 'refuse' }
  switch (policy.mode) {
    case 'none':
      return [...head, tail]
    case 'reach':
      return [...head, ...toTargetRules(policy.targets, allow), tail]
    case 'internet':
      return [
        ...head,
        { to: pool, verdict: 'refuse' },
        ...allowPrivate.map((to): Rule => ({ to, verdict: allow })),
        ...privateRanges.map((to): Rule => ({ to, verdict: 'refuse' })),
        { verdict: allow },
      ]
  }
}

/** What a package's interface may send to the host itself: questions to the resolver at its gateway, and what the policy names. */
export function toInputRules({ subnet, policy, pool, allowPrivate }: EgressRequest): Rule[] {
  const head: Rule[] = [
    { notFrom: subnet.cidr, verdict: 'drop' },
    { replies: true, verdict: 'accept' },
  ]
  const tail: Rule = { verdict: 'refuse' }
  const resolver: Rule[] = (['udp', 'tcp'] as const).map((protocol) => ({
    to: `${subnet.gateway}/32`,
    protocol,
    port: 53,
    verdict: 'accept',
  }))
  switch (policy.mode) {
    case 'none':
      return [...head, tail]
    case 'reach':
      return [...head, ...resolver, ...toTargetRules(policy.targets, 'pass'), tail]
    case 'internet':
      return [...head, ...resolver, { to: pool, verdict: 'refuse' }, ...allowPrivate.map((to): Rule => ({ to, verdict: 'pass' })), tail]
  }
}

const toTargetRules = (targets: readonly { address: string; port: number }[], verdict: 'accept' | 'pass'): Rule[] =>
  targets.map(({ address, port }) => ({ to: `${address}/32`, protocol: 'tcp', port, verdict }))
