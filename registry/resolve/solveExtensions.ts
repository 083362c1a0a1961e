import semver from 'semver'
import { findCoded, type PkgdError } from '../../daemon/core/errors.ts'
import type { GraphRequest } from './graphRequest.ts'
import { findCycle, startingAt } from './orderByNeeds.ts'
import type { Candidate, InstalledPackage } from './resolution.ts'
import { cycleError, unsolvableError, type Want } from './unsolvable.ts'

type Chosen = ReadonlyMap<string, Candidate>

/** A solution, or the packages of which at least one has to be chosen otherwise. */
type Outcome = { readonly chosen: Chosen } | { readonly blame: ReadonlySet<string> }

/** Beyond so many choices a graph counts as unsolvable: it is not one that people write. */
const mostSteps = 50_000

const extensionsOf = (candidate: Candidate): Readonly<Record<string, string>> => candidate.manifest.dependencies.extensions
const labelOf = (candidate: Candidate): string => `${candidate.manifest.id}@${candidate.manifest.version}`

/**
 * A version for every id that the root needs, near or far: a search with conflict-directed backjumping. Deterministic: it depends on neither the order of
 * keys nor that of the candidates.
 */
export async function solveExtensions(request: GraphRequest): Promise<Chosen> {
  const rootId = request.root.manifest.id
  const installed = new Map(request.installed.map((entry) => [entry.id, entry]))
  const loaded = new Map<string, readonly Candidate[]>()
  let firstFailure: PkgdError | undefined
  let steps = 0

  const versionsOf = (id: string): string[] => {
    const own = id === rootId ? [request.root.manifest.version] : []
    const here = installed.get(id)
    return [...new Set([...own, ...(here ? [here.version] : []), ...(loaded.get(id) ?? []).map((candidate) => candidate.manifest.version)])]
  }

  const load = async (id: string): Promise<readonly Candidate[]> => {
    const found = loaded.get(id) ?? (await request.candidates(id).catch(none))
    loaded.set(id, found)
    return found
  }

  const fail = (error: () => PkgdError): void => {
    firstFailure ??= error()
  }

  /** What installed packages that are not in the plan, and thus stay as they are, want of an id. */
  const standingWants = (id: string, chosen: Chosen): Want[] =>
    request.installed.flatMap((entry) => {
      const range = entry.manifest.dependencies.extensions[id]
      return range === undefined || chosen.has(entry.id)
        ? []
        : [{ by: `${entry.id}@${entry.version}`, id: entry.id, range, installed: true }]
    })

  async function* domain(id: string, wants: readonly Want[], chosen: Chosen): AsyncGenerator<Candidate> {
    const fits = (version: string, all: readonly Want[]) => all.every((want) => semver.satisfies(version, want.range))
    const here = installed.get(id)
    if (here && fits(here.version, wants)) yield toCandidate(here)
    const standing = standingWants(id, chosen)
    const rank = ({ manifest: { version } }: Candidate): number =>
      (fits(version, standing) ? 0 : 2) + (request.lock?.packages[id]?.version === version ? 0 : 1)
    const others = (await load(id)).filter(
      (candidate) => candidate.manifest.version !== here?.version && fits(candidate.manifest.version, wants),
    )
    yield* others.toSorted((a, b) => rank(a) - rank(b) || semver.compareBuild(b.manifest.version, a.manifest.version))
  }

  /** Which of the chosen packages speak against this one, or undefined. */
  const clashOf = (id: string, candidate: Candidate, chosen: Chosen): readonly string[] | undefined => {
    const next = new Map(chosen).set(id, candidate)
    for (const [needed, range] of sorted(extensionsOf(candidate))) {
      const other = chosen.get(needed)
      if (!other || semver.satisfies(other.manifest.version, range)) continue
      fail(() => unsolvableError(needed, wantsOf(needed, next), versionsOf(needed)))
      return [needed]
    }
    const cycle = findCycle(id, (at) => Object.keys(next.has(at) ? extensionsOf(next.get(at) ?? candidate) : {}))
    if (!cycle) return undefined
    fail(() => cycleError(startingAt(rootId, cycle)))
    return cycle.filter((member) => member !== id)
  }

  /** A complete choice still must not break an installed package that is no part of it. */
  const finish = (chosen: Chosen): Outcome => {
    for (const [id, candidate] of sortedMap(chosen)) {
      const broken = standingWants(id, chosen).filter((want) => !semver.satisfies(candidate.manifest.version, want.range))
      if (broken.length === 0) continue
      const root: Want[] = id === rootId ? [{ by: 'what is asked for', id, range: candidate.manifest.version, installed: false }] : []
      fail(() => unsolvableError(id, [...root, ...wantsOf(id, chosen), ...broken], versionsOf(id)))
      return { blame: new Set([id]) }
    }
    return { chosen }
  }

  const search = async (chosen: Chosen): Promise<Outcome> => {
    const id = nextNeeded(chosen)
    if (id === undefined) return finish(chosen)
    const wants = wantsOf(id, chosen)
    const blame = new Set(wants.map((want) => want.id))
    let any = false
    for await (const candidate of domain(id, wants, chosen)) {
      any = true
      if (++steps > mostSteps) return { blame: new Set() }
      const clash = clashOf(id, candidate, chosen)
      if (clash) {
        for (const other of clash) blame.add(other)
        continue
      }
      const outcome = await search(new Map(chosen).set(id, candidate))
      if ('chosen' in outcome || !outcome.blame.has(id)) return outcome
      for (const other of outcome.blame) if (other !== id) blame.add(other)
    }
    if (!any) fail(() => unsolvableError(id, [...wants, ...standingWants(id, chosen)], versionsOf(id)))
    return { blame }
  }

  const start = clashOf(rootId, request.root, new Map())
  const outcome: Outcome = start ? { blame: new Set() } : await search(new Map([[rootId, request.root]]))
  if ('chosen' in outcome) return outcome.chosen
  throw firstFailure ?? unsolvableError(rootId, [], versionsOf(rootId))
}

/** An id that no registry has is a fact for the search, not its end. */
function none(error: unknown): readonly Candidate[] {
  if (findCoded(error)?.code === 'PACKAGE_NOT_FOUND') return []
  throw error
}

const sorted = (record: Readonly<Record<string, string>>): [string, string][] => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))
const sortedMap = (chosen: Chosen): [string, Candidate][] => [...chosen].sort(([a], [b]) => (a < b ? -1 : 1))

const wantsOf = (id: string, chosen: Chosen): Want[] =>
  sortedMap(chosen).flatMap(([by, candidate]) => {
    const range = extensionsOf(candidate)[id]
    return range === undefined ? [] : [{ by: labelOf(candidate), id: by, range, installed: false }]
  })

/** The smallest id that a chosen package needs and that is not chosen yet. */
function nextNeeded(chosen: Chosen): string | undefined {
  let next: string | undefined
  for (const candidate of chosen.values()) {
    for (const id of Object.keys(extensionsOf(candidate))) if (!chosen.has(id) && (next === undefined || id < next)) next = id
  }
  return next
}

function toCandidate({ resolution, manifest, manifestOrigin = 'file' }: InstalledPackage): Candidate {
  const project = resolution.kind === 'npm' && manifestOrigin === 'derived' ? 'npm-project' : 'files'
  return { resolution, manifest, manifestOrigin, layout: resolution.kind === 'pypi' ? 'pypi-project' : project }
}
