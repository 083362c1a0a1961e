/** What each package needs: ids of the extensions it depends on. Ids that are not installed are left out of every order. */
export type Needs = ReadonlyMap<string, readonly string[]>

/** `ids` and everything they need, each after what it needs; in the order of `ids` where nothing else decides. A cycle is cut where it closes. */
export function toStartOrder(ids: Iterable<string>, needs: Needs): string[] {
  const order: string[] = []
  const seen = new Set<string>()
  const visit = (id: string) => {
    if (seen.has(id) || !needs.has(id)) return
    seen.add(id)
    for (const needed of needs.get(id) ?? []) visit(needed)
    order.push(id)
  }
  for (const id of ids) visit(id)
  return order
}

/** Everything that needs `id`, directly or not, each before what it needs; `id` is the last. */
export function toStopOrder(id: string, needs: Needs): string[] {
  const dependents = new Set([id])
  for (let size = 0; size !== dependents.size; ) {
    size = dependents.size
    for (const [other, needed] of needs) if (needed.some((each) => dependents.has(each))) dependents.add(other)
  }
  return toStartOrder(needs.keys(), needs)
    .filter((each) => dependents.has(each))
    .reverse()
}

/** How one of a schedule ended. `held` names what it needs that did not succeed. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'held'; readonly by: string }

/**
 * Runs `body` for each id as soon as all it waits for (those in `order` only) are done; whatever does not wait for a failed one goes on.
 * `order` must list each after what it waits for. Never rejects.
 */
export async function runInOrder(
  order: readonly string[],
  waitsFor: (id: string) => readonly string[],
  body: (id: string) => Promise<void>,
): Promise<Map<string, Outcome>> {
  const under = new Map<string, Promise<Outcome>>()
  const run = async (id: string, needed: readonly (readonly [string, Promise<Outcome>])[]): Promise<Outcome> => {
    const outcomes = await Promise.all(needed.map(async ([other, outcome]) => [other, await outcome] as const))
    const bad = outcomes.find(([, outcome]) => outcome.kind !== 'done')
    if (bad) return { kind: 'held', by: bad[1].kind === 'held' ? bad[1].by : bad[0] }
    try {
      await body(id)
      return { kind: 'done' }
    } catch (error) {
      return { kind: 'failed', error }
    }
  }
  for (const id of order) {
    const needed = waitsFor(id).flatMap((other) => {
      const outcome = under.get(other)
      return outcome ? [[other, outcome] as const] : []
    })
    under.set(id, run(id, needed))
  }
  const outcomes = new Map<string, Outcome>()
  for (const [id, outcome] of under) outcomes.set(id, await outcome)
  return outcomes
}
