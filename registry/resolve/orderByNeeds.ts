const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Ids with what is needed before who needs it; among those that could come next, the smallest id. Needs that are no keys do not count.
 * The graph must have no cycle.
 */
export function orderByNeeds(needs: ReadonlyMap<string, readonly string[]>): string[] {
  const dependents = new Map<string, string[]>()
  const waiting = new Map<string, number>()
  for (const [id, needed] of needs) {
    const known = new Set(needed.filter((other) => needs.has(other)))
    waiting.set(id, known.size)
    for (const other of known) dependents.set(other, [...(dependents.get(other) ?? []), id])
  }
  const order: string[] = []
  const ready = [...waiting].filter(([, count]) => count === 0).map(([id]) => id)
  while (ready.length > 0) {
    ready.sort(byCodeUnit)
    const id = ready.shift()
    if (id === undefined) break
    order.push(id)
    for (const dependent of dependents.get(id) ?? []) {
      const left = (waiting.get(dependent) ?? 0) - 1
      waiting.set(dependent, left)
      if (left === 0) ready.push(dependent)
    }
  }
  return order
}

/** The way from `id` back to itself, both ends included (`a`, `b`, `a`), the first in order of ids; undefined when there is none. */
export function findCycle(id: string, needsOf: (id: string) => readonly string[]): string[] | undefined {
  const seen = new Set<string>()
  const walk = (at: string, path: readonly string[]): string[] | undefined => {
    for (const next of [...needsOf(at)].sort(byCodeUnit)) {
      if (next === id) return [...path, id]
      if (seen.has(next)) continue
      seen.add(next)
      const found = walk(next, [...path, next])
      if (found) return found
    }
    return undefined
  }
  return walk(id, [id])
}

/** The same way round, told from `id` on when it is on it. */
export function startingAt(id: string, cycle: readonly string[]): readonly string[] {
  const at = cycle.indexOf(id)
  return at <= 0 ? cycle : [...cycle.slice(at, -1), ...cycle.slice(0, at), id]
}
