import type { Limits, NetworkPolicy } from '../../daemon/core/types.ts'
import type { SandboxIdentity } from '../sandboxDriver.ts'

/** What a container's labels say: who it is, and what was asked for it. Enough to adopt it without the database. */
export interface LabelledSandbox {
  readonly identity: SandboxIdentity
  readonly limits: Limits
  readonly network: NetworkPolicy['mode']
  readonly stdio: 'pipes' | 'attach'
  /** A build runs to its end and is never adopted. */
  readonly purpose: 'package' | 'build'
}

const key = {
  daemon: 'io.pkgd.daemon',
  package: 'io.pkgd.package',
  version: 'io.pkgd.version',
  spec: 'io.pkgd.spec',
  limits: 'io.pkgd.limits',
  network: 'io.pkgd.network',
  stdio: 'io.pkgd.stdio',
  purpose: 'io.pkgd.purpose',
} as const

export const daemonLabel = (daemon: string): string => `${key.daemon}=${daemon}`

/** Those of an engine object that belongs to a package. */
export function toObjectLabels({ daemon, packageId }: { readonly daemon: string; readonly packageId: string }): Record<string, string> {
  return { [key.daemon]: daemon, [key.package]: packageId }
}

/** On what runs to its end and is never adopted. */
export const passingLabel: Readonly<Record<string, string>> = { [key.purpose]: 'build' }

export const isPassing = (labels: Readonly<Record<string, string>>): boolean => labels[key.purpose] === 'build'

/** The filter that finds packages' sandboxes alone. */
export const packagePurpose = `${key.purpose}=package`

export const packageOf = (labels: Readonly<Record<string, string>>): string => labels[key.package] ?? ''

export function toLabels({ identity, limits, network, stdio, purpose }: LabelledSandbox): Record<string, string> {
  return {
    ...toObjectLabels(identity),
    [key.version]: identity.version,
    [key.spec]: identity.spec,
    [key.limits]: [limits.memoryBytes, limits.cpus, limits.pids, limits.tmpBytes].join(' '),
    [key.network]: network,
    [key.stdio]: stdio,
    [key.purpose]: purpose,
  }
}

/** Undefined for labels without a daemon's id: such a container is nobody's of ours. */
export function parseLabels(labels: Readonly<Record<string, string>>): LabelledSandbox | undefined {
  const daemon = labels[key.daemon]
  if (daemon === undefined) return undefined
  const [memoryBytes = 0, cpus = 0, pids = 0, tmpBytes = 0] = (labels[key.limits] ?? '').split(' ').map(Number)
  const network = labels[key.network]
  return {
    identity: { daemon, packageId: packageOf(labels), version: labels[key.version] ?? '', spec: labels[key.spec] ?? '' },
    limits: { memoryBytes, cpus, pids, tmpBytes },
    network: network === 'internet' || network === 'allow' ? network : 'none',
    stdio: labels[key.stdio] === 'attach' ? 'attach' : 'pipes',
    purpose: labels[key.purpose] === 'build' ? 'build' : 'package',
  }
}
