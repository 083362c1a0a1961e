import type { Manifest } from '../../../registry/manifest/manifest.ts'
import { type Issue, PkgdError } from '../../core/errors.ts'
import type { Grants } from '../../store/state.ts'
import type { Permissions } from '../installer.ts'
import { listRequests, type Request } from './listRequests.ts'
import { mergeMounts } from './mergeMounts.ts'
import { toNetworkPolicy } from './toNetworkPolicy.ts'

/** The version of the same package that this one replaces, and what its user had decided. */
export interface FormerGrants {
  readonly manifest: Manifest
  readonly grants: Grants
}

export interface Decision {
  readonly grants: Grants
  /** What is asked and settled by nobody yet. */
  readonly open: readonly Request[]
}

/**
 * The sandbox a package gets. What the user says goes before what an earlier install settled for the same request, and that before what the manifest asks. Pure:
 * mounts' sources, ceilings and what the driver can do are checked apart.
 */
export function decideGrants(manifest: Manifest, permissions: Permissions, former: FormerGrants | undefined): Decision {
  const requests = listRequests(manifest)
  const settledBefore = new Set(former ? listRequests(former.manifest).map((request) => request.key) : [])
  const before = former?.grants
  const { sandbox } = manifest
  const kept = <T>(kind: Request['kind'], asked: T, then: T | undefined, askedThen: T | undefined): T => {
    if (then === undefined || askedThen === undefined) return asked
    const same = requests.filter((request) => request.kind === kind).every((request) => settledBefore.has(request.key))
    // A value that the user had changed stays as it was while the manifest asks for the same.
    return same && JSON.stringify(then) !== JSON.stringify(askedThen) ? then : asked
  }
  const then = former?.manifest.sandbox
  const grants: Grants = {
    network:
      permissions.network ?? kept('network', toNetworkPolicy(sandbox.network), before?.network, then && toNetworkPolicy(then.network)),
    data: permissions.filesystem ?? kept('data', sandbox.data, before?.data, then?.data),
    mounts: mergeMounts(sandbox.mounts, permissions.mounts, before?.mounts ?? []),
    limits: {
      memoryBytes: permissions.memoryBytes ?? kept('memory', sandbox.memoryBytes, before?.limits.memoryBytes, then?.memoryBytes),
      cpus: permissions.cpus ?? kept('cpu', sandbox.cpus, before?.limits.cpus, then?.cpus),
      pids: permissions.pids ?? kept('pids', sandbox.pids, before?.limits.pids, then?.pids),
      tmpBytes: permissions.tmpBytes ?? kept('tmp', sandbox.tmpBytes, before?.limits.tmpBytes, then?.tmpBytes),
    },
  }
  const open = requests.filter((request) => {
    if (request.kind === 'mount') return !grants.mounts.some((mount) => request.key.startsWith(`mount ${mount.target} `))
    return !settledBefore.has(request.key) && !isSettled(request.kind, permissions)
  })
  return { grants, open }
}

/** Whether the user's own words decide on it, so that the manifest's request no longer counts. */
function isSettled(kind: Exclude<Request['kind'], 'mount'>, permissions: Permissions): boolean {
  switch (kind) {
    case 'network':
      return permissions.network !== undefined
    case 'data':
      return permissions.filesystem !== undefined
    case 'memory':
      return permissions.memoryBytes !== undefined
    case 'cpu':
      return permissions.cpus !== undefined
    case 'pids':
      return permissions.pids !== undefined
    case 'tmp':
      return permissions.tmpBytes !== undefined
    case 'image':
    case 'source':
      return false
  }
}

/** Throws for what is still open: CONSENT_REQUIRED with every request, or, with consent given, MOUNT_REFUSED for mounts, whose source nobody but the user names. */
export function requireConsent(open: readonly Request[], consent: boolean, upgrades: ReadonlySet<string>): void {
  const left = consent ? open.filter((request) => request.kind === 'mount') : open
  if (left.length === 0) return
  const issues: Issue[] = left.map((request) => ({
    pointer: request.pointer,
    message:
      request.kind === 'source'
        ? request.text
        : `${request.packageId} ${upgrades.has(request.packageId) ? 'now asks' : 'asks'} to ${request.text}`,
    rule: request.kind,
    fix: request.option,
  }))
  const ids = [...new Set(left.map((request) => request.packageId))].join(', ')
  const options = [...new Set(left.filter((request) => request.kind === 'mount').map((request) => request.option))].join(' ')
  if (consent) {
    throw new PkgdError('MOUNT_REFUSED', `${ids} asks for a folder of yours, and consent to all does not choose one: ${lines(issues)}`, {
      hint: `say which: ${options}`,
      issues,
    })
  }
  const replaces = left.some((request) => request.kind === 'source')
  const settle = replaces ? 'if that is what you want, say --yes' : 'grant it all with --yes, or settle each with its own option'
  throw new PkgdError(
    'CONSENT_REQUIRED',
    `${ids} ${replaces ? 'needs consent' : 'asks for more than the default sandbox'}: ${lines(issues)}`,
    {
      hint: options ? `grant it with --yes and ${options}` : settle,
      issues,
    },
  )
}

const lines = (issues: readonly Issue[]): string => issues.map((issue) => issue.message).join('; ')
