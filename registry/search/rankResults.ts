import semver from 'semver'
import type { SearchResult } from '../resolve/resolution.ts'

/**
 * Best first: the very id, then ids that begin with the query, that contain it, then names, then descriptions; the same rank keeps the order of the registries (and npm's own within one).
 * Of several versions of one id in one registry only the newest is left.
 */
export function rankResults(results: readonly SearchResult[], query: string): SearchResult[] {
  const wanted = query.trim().toLowerCase()
  const newest = new Map<string, SearchResult>()
  for (const result of results) {
    const key = `${result.registry}\0${result.name}\0${result.id}`
    const known = newest.get(key)
    if (!known || isNewer(result.version, known.version)) newest.set(key, result)
  }
  return [...newest.values()]
    .map((result, place) => ({ result, place, rank: rank(result, wanted) }))
    .sort((left, right) => left.rank - right.rank || left.place - right.place)
    .map(({ result }) => result)
}

const isNewer = (version: string, than: string): boolean =>
  semver.valid(version) !== null && (semver.valid(than) === null || semver.compareBuild(version, than) > 0)

function rank({ id, name, description }: SearchResult, wanted: string): number {
  const lowName = name.toLowerCase()
  if (id === wanted || lowName === wanted) return 0
  if (id.startsWith(wanted)) return 1
  if (id.includes(wanted)) return 2
  if (lowName.includes(wanted)) return 3
  return description.toLowerCase().includes(wanted) ? 4 : 5
}
