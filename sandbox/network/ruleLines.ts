import type { Rule } from './egressRules.ts'

const targets: Readonly<Record<Rule['verdict'], string>> = {
  accept: 'ACCEPT',
  pass: 'RETURN',
  refuse: 'REJECT --reject-with icmp-admin-prohibited',
  drop: 'DROP',
}

/** A rule as an iptables-restore line that appends it to `chain`. */
export function toRuleLine(chain: string, rule: Rule): string {
  return [
    `-A ${chain}`,
    rule.notFrom === undefined ? '' : `! -s ${rule.notFrom}`,
    rule.to === undefined ? '' : `-d ${rule.to}`,
    rule.protocol === undefined ? '' : `-p ${rule.protocol}`,
    rule.replies ? '-m conntrack --ctstate RELATED,ESTABLISHED' : '',
    rule.port === undefined ? '' : `--dport ${rule.port}`,
    `-j ${targets[rule.verdict]}`,
  ]
    .filter((part) => part !== '')
    .join(' ')
}
