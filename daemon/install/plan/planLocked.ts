import type { Lockfile } from '../../../registry/lockfile/lockfile.ts'
import type { PlannedPackage } from '../../../registry/resolve/resolution.ts'
import { PkgdError } from '../../core/errors.ts'
import type { OperationContext } from '../../core/ports.ts'
import type { InstallerParts } from '../installerDeps.ts'
import { checkLocked, toLockedSource } from './toLockedSource.ts'

/** Plans exactly what the lockfile says of these ids and of what they need. Errors: LOCKFILE_OUTDATED, DEPENDENCY_CYCLE, INTEGRITY_MISMATCH and the resolver's. */
export async function planLocked(
  parts: Pick<InstallerParts, 'resolver' | 'state'>,
  lockfile: Lockfile,
  ids: readonly string[],
  context: OperationContext,
): Promise<PlannedPackage[]> {
  const planned: PlannedPackage[] = []
  for (const id of orderLocked(lockfile, ids)) {
    const locked = lockfile.packages[id]
    if (!locked) continue
    context.progress({ stage: 'plan', message: id })
    const candidate = await parts.resolver.resolve(toLockedSource(locked.resolution), context)
    checkLocked(id, candidate, locked)
    const former = parts.state.packages.get(id)
    const action = !former ? 'install' : former.version === locked.version && former.tree === locked.tree ? 'keep' : 'replace'
    planned.push({ ...candidate, resolution: locked.resolution, needs: Object.keys(locked.extensions).sort(), action })
  }
  return planned
}

/** The ids and all that they need, what is needed first; the same for the same lockfile. */
export function orderLocked(lockfile: Lockfile, ids: readonly string[]): string[] {
  const ordered: string[] = []
  const visit = (id: string, path: readonly string[]): void => {
    if (path.includes(id)) {
      throw new PkgdError('DEPENDENCY_CYCLE', `pkgd.lock has a circle: ${[...path.slice(path.indexOf(id)), id].join(' -> ')}`)
    }
    if (ordered.includes(id)) return
    const locked = lockfile.packages[id]
    if (!locked) {
      const by = path.at(-1)
      throw new PkgdError('LOCKFILE_OUTDATED', by ? `${by} needs ${id}, which is not in pkgd.lock` : `${id} is not in pkgd.lock`, {
        hint: 'install it without --frozen to lock it',
      })
    }
    for (const needed of Object.keys(locked.extensions).sort()) visit(needed, [...path, id])
    ordered.push(id)
  }
  for (const id of [...ids].sort()) visit(id, [])
  return ordered
}
