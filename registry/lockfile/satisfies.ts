import semver from 'semver'
import { satisfiesPythonRange } from '../manifest/pythonRange.ts'
import type { Source } from '../resolve/resolution.ts'
import type { LockedPackage, Lockfile } from './lockfile.ts'

/** Whether the lockfile says everything about what is asked for, and if not, what it does not. */
export type LockVerdict =
  | { readonly kind: 'locked'; readonly id: string; readonly package: LockedPackage }
  | { readonly kind: 'outdated'; readonly reason: string }

const outdated = (reason: string): LockVerdict => ({ kind: 'outdated', reason })

/**
 * The locked package that answers a request, with all the extensions that it needs locked too. A tag, a branch and a range that is not given are answered by
 * whatever is locked.
 */
export function satisfies(lockfile: Lockfile, source: Source): LockVerdict {
  const found = Object.entries(lockfile.packages).find(([id, locked]) => isOf(source, id, locked))
  if (!found) return outdated('it is not in the lockfile')
  const [id, locked] = found
  const mismatch = compare(source, locked) ?? missingExtension(lockfile, id)
  return mismatch === undefined ? { kind: 'locked', id, package: locked } : outdated(mismatch)
}

const normal = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-')

/** Whether a locked package is of the same origin as the source, whatever its version. */
function isOf(source: Source, id: string, { resolution }: LockedPackage): boolean {
  switch (source.kind) {
    case 'registry':
      return id === source.id
    case 'npm':
      return resolution.kind === 'npm' && resolution.name === source.name
    case 'pypi':
      return resolution.kind === 'pypi' && normal(resolution.name) === normal(source.name)
    case 'git':
    case 'https':
      return resolution.kind === source.kind && resolution.url === source.url
    default:
      return resolution.kind === source.kind && resolution.path === source.path
  }
}

function compare(source: Source, { version, resolution }: LockedPackage): string | undefined {
  const locked = `${version} is locked`
  if (source.kind === 'registry' && !semver.satisfies(version, source.range)) return `${locked}, ${source.range} is asked for`
  if (source.kind === 'npm' && resolution.kind === 'npm' && semver.validRange(source.range) !== null) {
    return semver.satisfies(resolution.version, source.range) ? undefined : `${resolution.version} is locked, ${source.range} is asked for`
  }
  if (
    source.kind === 'pypi' &&
    resolution.kind === 'pypi' &&
    source.range !== '' &&
    !satisfiesPythonRange(resolution.version, source.range)
  ) {
    return `${resolution.version} is locked, ${source.range} is asked for`
  }
  if (source.kind === 'https' && resolution.kind === 'https' && source.integrity !== null && source.integrity !== resolution.integrity) {
    return `${resolution.integrity} is locked, ${source.integrity} is asked for`
  }
  if (
    source.kind === 'git' &&
    resolution.kind === 'git' &&
    /^[0-9a-f]{7,64}$/.test(source.ref ?? '') &&
    !resolution.commit.startsWith(source.ref ?? '')
  ) {
    return `commit ${resolution.commit} is locked, ${source.ref} is asked for`
  }
  return undefined
}

/** The first extension, near or far, that is not locked in a version that its dependent takes. */
function missingExtension(lockfile: Lockfile, root: string): string | undefined {
  const seen = new Set<string>()
  const open = [root]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    for (const [needed, range] of Object.entries(lockfile.packages[id]?.extensions ?? {})) {
      const locked = lockfile.packages[needed]
      if (!locked) return `${id} needs ${needed}@${range}, which is not in the lockfile`
      if (!semver.satisfies(locked.version, range)) return `${id} needs ${needed}@${range}, ${locked.version} is locked`
      open.push(needed)
    }
  }
  return undefined
}
