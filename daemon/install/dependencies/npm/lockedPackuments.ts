import type { Packument } from 'pacote'

/**
 * The cache of packuments that npm's solver looks into, which leaves of each package only the locked versions (`name@version` to SRI), with the locked
 * integrity in place of the registry's: the solver can pick nothing else, and a download that differs fails.
 */
export function createLockedPackuments(locked: Readonly<Record<string, string>>): Map<string, Packument> {
  const cached = new Map<string, Packument>()
  const keep = cached.set.bind(cached)
  cached.set = (key, packument) => {
    const kept = Object.entries(packument.versions).flatMap(([version, manifest]) => {
      const integrity = locked[`${packument.name}@${version}`]
      return integrity === undefined ? [] : [[version, { ...manifest, dist: { ...manifest.dist, integrity } }] as const]
    })
    // The caller goes on with the very object it hands over, so it is changed in place.
    packument.versions = Object.fromEntries(kept)
    for (const [tag, version] of Object.entries(packument['dist-tags'])) {
      if (!(String(version) in packument.versions)) delete packument['dist-tags'][tag]
    }
    return keep(key, packument)
  }
  return cached
}
