import fc from 'fast-check'
import semver from 'semver'
import { describe, expect, it } from 'vitest'
import { findCoded } from '../../../../daemon/core/errors.ts'
import type { GraphRequest } from '../../../../registry/resolve/graphRequest.ts'
import { planGraph } from '../../../../registry/resolve/planGraph.ts'
import type { Candidate } from '../../../../registry/resolve/resolution.ts'
import { brief, candidate, type Needs, registry } from './graphFixtures.ts'

/** Small random registries: ids p0..p5, versions 1.0.0..3.0.0, ranges among these. */
const ids = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5']
const versions = ['1.0.0', '1.1.0', '2.0.0', '3.0.0']
const range = fc.constantFrom('*', '^1', '^2', '>=1.1', '<3', '3.0.0')
const needs = fc.dictionary(fc.constantFrom(...ids), range, { maxKeys: 3 })
const world = fc
  .array(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...versions), needs), { maxLength: 16 })
  .map((entries) => [
    ...new Map(entries.map(([id, version, all]) => [`${id}@${version}`, candidate(id, version, without(all, id))])).values(),
  ])

const without = (all: Needs, id: string): Needs => Object.fromEntries(Object.entries(all).filter(([key]) => key !== id))

/** Whether any choice of versions at all works, by trying every one. */
function solvable(root: Candidate, all: readonly Candidate[]): boolean {
  const search = (chosen: ReadonlyMap<string, Candidate>): boolean => {
    const pending = [...chosen.values()]
      .flatMap((entry) => Object.keys(entry.manifest.dependencies.extensions))
      .find((id) => !chosen.has(id))
    if (pending === undefined) return isSound(chosen)
    return all.filter((entry) => entry.manifest.id === pending).some((entry) => search(new Map(chosen).set(pending, entry)))
  }
  return search(new Map([[root.manifest.id, root]]))
}

function isSound(chosen: ReadonlyMap<string, Candidate>): boolean {
  const edges = [...chosen].map(([id, entry]) => [id, entry.manifest.dependencies.extensions] as const)
  const satisfied = edges.every(([, extensions]) =>
    Object.entries(extensions).every(([id, wanted]) => semver.satisfies(chosen.get(id)?.manifest.version ?? '', wanted)),
  )
  const left = new Map(edges.map(([id, extensions]) => [id, Object.keys(extensions)]))
  for (let removed = true; removed; ) {
    removed = false
    for (const [id, others] of left) if (others.every((other) => !left.has(other))) removed = left.delete(id) || removed
  }
  return satisfied && left.size === 0
}

describe('planGraph, on random registries', () => {
  const root = needs.map((all) => candidate('app', '1.0.0', all))
  const run = (request: GraphRequest) =>
    planGraph(request).then(
      (plan) => ({ plan }),
      (error: unknown) => ({ code: findCoded(error)?.code, error: String(error) }),
    )

  it('finds a sound, topologically ordered plan exactly where one exists', async () => {
    await fc.assert(
      fc.asyncProperty(root, world, async (app, all) => {
        const outcome = await run({ root: app, installed: [], candidates: registry(...all) })
        if (!('plan' in outcome)) {
          expect(['DEPENDENCY_UNSOLVABLE', 'DEPENDENCY_CYCLE']).toContain(outcome.code)
          expect(solvable(app, all)).toBe(false)
          return
        }
        const { packages } = outcome.plan
        expect(isSound(new Map(packages.map((entry) => [entry.manifest.id, entry])))).toBe(true)
        for (const [at, entry] of packages.entries()) {
          const before = new Set(packages.slice(0, at).map((other) => other.manifest.id))
          expect(entry.needs.every((id) => before.has(id))).toBe(true)
        }
      }),
      { numRuns: 400 },
    )
  })

  it('gives the same plan or the same error whatever the order of what it is given', async () => {
    const shuffled = world.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
    )
    await fc.assert(
      fc.asyncProperty(root, shuffled, async (app, [all, other]) => {
        const reversed = candidate('app', '1.0.0', Object.fromEntries(Object.entries(app.manifest.dependencies.extensions).reverse()))
        const brieflyOf = (outcome: Awaited<ReturnType<typeof run>>) => ('plan' in outcome ? brief(outcome.plan) : outcome.error)
        const first = await run({ root: app, installed: [], candidates: registry(...all) })
        const second = await run({ root: reversed, installed: [], candidates: registry(...other) })
        expect(brieflyOf(second)).toEqual(brieflyOf(first))
      }),
      { numRuns: 300 },
    )
  })

  it('never leaves an installed package with an unsatisfied need', async () => {
    await fc.assert(
      fc.asyncProperty(root, root, world, async (firstApp, secondApp, all) => {
        const first = await run({
          root: { ...firstApp, manifest: { ...firstApp.manifest, id: 'other' } },
          installed: [],
          candidates: registry(...all),
        })
        if (!('plan' in first)) return
        const there = first.plan.packages.map(({ manifest, resolution }) => ({
          id: manifest.id,
          version: manifest.version,
          manifest,
          resolution,
        }))
        const second = await run({ root: secondApp, installed: there, candidates: registry(...all) })
        if (!('plan' in second)) return
        const after = new Map([
          ...there.map((entry) => [entry.id, entry.manifest] as const),
          ...second.plan.packages.map((entry) => [entry.manifest.id, entry.manifest] as const),
        ])
        for (const entry of after.values()) {
          for (const [id, wanted] of Object.entries(entry.dependencies.extensions))
            expect(semver.satisfies(after.get(id)?.version ?? '', wanted)).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })
})
