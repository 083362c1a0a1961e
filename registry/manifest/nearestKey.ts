import { closest, distance } from 'fastest-levenshtein'

const plain = (key: string): string => key.replace(/[^A-Za-z0-9]/g, '').toLowerCase()

/** The known key that was most likely meant, and whether it is close enough to be offered as a correction. Case, "_" and "-" do not count. */
export function nearestKey(key: string, known: readonly string[]): { readonly key: string; readonly close: boolean } | undefined {
  const plainKnown = known.map(plain)
  if (known.length === 0) return undefined
  const found = closest(plain(key), plainKnown)
  const nearest = known[plainKnown.indexOf(found)]
  if (nearest === undefined) return undefined
  return { key: nearest, close: distance(plain(key), found) <= Math.max(1, Math.floor(found.length / 3)) }
}
