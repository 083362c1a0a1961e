import { isDeepStrictEqual } from 'node:util'
import type { GraphRequest } from './graphRequest.ts'
import { orderByNeeds } from './orderByNeeds.ts'
import type { Candidate, InstalledPackage, Plan, PlannedPackage } from './resolution.ts'
import { solveExtensions } from './solveExtensions.ts'

/**
 * Solves `dependencies.extensions` of the root and of all that it pulls in: one version an id, which everyone who needs it takes, installed packages outside
 * of the plan included. Prefers what is installed, then what is locked, then the newest. Errors: DEPENDENCY_UNSOLVABLE, DEPENDENCY_CYCLE, and those of `candidates`.
 */
export async function planGraph(request: GraphRequest): Promise<Plan> {
  const chosen = await solveExtensions(request)
  const installed = new Map(request.installed.map((entry) => [entry.id, entry]))
  const needs = new Map([...chosen].map(([id, candidate]) => [id, Object.keys(candidate.manifest.dependencies.extensions).sort()]))
  const packages = orderByNeeds(needs).flatMap((id): PlannedPackage[] => {
    const candidate = chosen.get(id)
    return candidate ? [{ ...candidate, needs: needs.get(id) ?? [], action: decideAction(candidate, installed.get(id), request.root) }] : []
  })
  return { root: request.root.manifest.id, packages }
}

/** A folder that is asked for is always installed anew: its files may have changed under the same version. */
function decideAction(candidate: Candidate, installed: InstalledPackage | undefined, root: Candidate): PlannedPackage['action'] {
  if (!installed) return 'install'
  if (candidate === root && root.resolution.kind === 'folder') return 'replace'
  const same = installed.version === candidate.manifest.version && isDeepStrictEqual(installed.resolution, candidate.resolution)
  return same ? 'keep' : 'replace'
}
