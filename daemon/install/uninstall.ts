import { PkgdError } from '../core/errors.ts'
import type { OperationContext } from '../core/ports.ts'
import { commitChange } from './commit/commitChange.ts'
import { createInstallEffects, type InstallEffect } from './commit/installEffects.ts'
import type { InstallerParts } from './installerDeps.ts'
import { toJournal, whileStopped } from './performInstall.ts'
import { runSaga } from './saga.ts'

/**
 * Stops a package, takes it out of the state and the lockfile, and removes its tree. Its volume goes only with `purge`, else it is said where it is.
 * Errors: PACKAGE_NOT_FOUND, DEPENDENTS_EXIST.
 */
export async function uninstall(
  parts: InstallerParts,
  id: string,
  options: { readonly purge: boolean },
  context: OperationContext & { readonly jobId: string },
): Promise<{ readonly id: string; readonly keptData: string | null }> {
  const { state, lifecycle, events, logger } = parts
  const { jobId } = context
  using turns = new DisposableStack()
  turns.use(await parts.locks.acquire(id, context.signal))
  const record = state.packages.get(id)
  if (!record) {
    if (options.purge && (await keepsData(parts, id))) {
      await parts.driver.volumes.remove(id)
      return { id, keptData: null }
    }
    lifecycle.get(id)
    throw new PkgdError('PACKAGE_NOT_FOUND', `No package ${id} is installed`)
  }
  checkDependents(parts, id)
  const volume = await keepsData(parts, id)
  const effects = createInstallEffects(parts)
  await runSaga({ journal: toJournal(parts), effects, logger }, { jobId, kind: 'uninstall' }, (saga) => {
    context.progress({ stage: 'stop', message: id })
    return whileStopped(parts, [id], context, async () => {
      turns.use(await parts.locks.acquire(parts.home.lockfile, context.signal))
      checkDependents(parts, id)
      context.progress({ stage: 'commit', message: id })
      const finish: InstallEffect[] = [{ kind: 'tree', digest: record.tree }]
      if (options.purge && volume) finish.push({ kind: 'volume', packageId: id })
      await commitChange(parts, saga, { jobId, locked: { [id]: null }, write: () => forget(parts, id), finish }, context)
    })
  })
  await lifecycle.removed(id)
  events.publish('package.uninstalled', id, { version: record.version, purged: options.purge })
  if (!volume || options.purge) return { id, keptData: null }
  const kept = await parts.driver.volumes.ensure(id, record.uid)
  return { id, keptData: kept.path ?? kept.name }
}

function forget({ state }: Pick<InstallerParts, 'state'>, id: string): void {
  state.packages.remove(id)
  state.statuses.remove(id)
  state.sandboxes.remove(id)
  state.catalogs.remove(id)
  state.secrets.removeAll(id)
}

/** Whether there is a volume of this id. */
export const keepsData = async ({ driver }: Pick<InstallerParts, 'driver'>, id: string): Promise<boolean> =>
  (await driver.volumes.list()).some((volume) => volume.packageId === id)

function checkDependents({ state }: Pick<InstallerParts, 'state'>, id: string): void {
  const dependents = state.packages
    .list()
    .filter((record) => id in record.manifest.dependencies.extensions)
    .map((record) => record.id)
  if (dependents.length === 0) return
  throw new PkgdError('DEPENDENTS_EXIST', `${id} is needed by ${dependents.join(', ')}`, {
    hint: `uninstall ${dependents.length === 1 ? 'it' : 'them'} first: pkg uninstall ${dependents.join(' ')}`,
  })
}
