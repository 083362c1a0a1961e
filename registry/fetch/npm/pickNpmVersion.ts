import semver from 'semver'
import type { Packument, PublishedVersion } from './npmRegistry.ts'

/**
 * The version that npm would take for a tag, a version or a range: the `latest` one where it satisfies, else the highest that does; one that is not deprecated before one that is.
 * Undefined when none does.
 */
export function pickNpmVersion(packument: Packument, range: string): PublishedVersion | undefined {
  const { tags, versions } = packument
  const tagged = Object.hasOwn(tags, range) ? tags[range] : undefined
  if (tagged !== undefined) return versions[tagged]
  const exact = semver.valid(range, { loose: true })
  if (exact !== null) return versions[exact]
  if (semver.validRange(range, { loose: true }) === null) return undefined
  const latest = tags.latest === undefined ? undefined : versions[tags.latest]
  // Where every version is a pre-release, "any" still means the one that was tagged.
  if (latest && !latest.deprecated && (isAny(range) || semver.satisfies(latest.version, range, { loose: true }))) return latest
  const satisfying = Object.values(versions).filter((candidate) => semver.satisfies(candidate.version, range, { loose: true }))
  const living = satisfying.filter((candidate) => candidate.deprecated === null)
  return (living.length > 0 ? living : satisfying).reduce<PublishedVersion | undefined>(
    (best, candidate) => (best === undefined || semver.gt(candidate.version, best.version, { loose: true }) ? candidate : best),
    latest && isAny(range) ? latest : undefined,
  )
}

const isAny = (range: string): boolean => ['', '*', 'x', 'X'].includes(range.trim())
