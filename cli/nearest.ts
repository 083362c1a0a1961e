import { distance } from 'fastest-levenshtein'

/** The candidate that a typing mistake most likely meant, or undefined when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const scored = candidates.map((candidate) => ({ candidate, score: distance(word.toLowerCase(), candidate.toLowerCase()) }))
  const [best] = scored.sort((a, b) => a.score - b.score || a.candidate.localeCompare(b.candidate))
  return best && best.score <= Math.max(1, Math.floor(best.candidate.length * 0.4)) ? best.candidate : undefined
}
