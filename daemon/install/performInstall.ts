import { PkgdError } from '../core/errors.ts'
import type { OperationContext } from '../core/ports.ts'
import type { PackageRecord } from '../store/state.ts'
import { commitChange } from './commit/commitChange.ts'
import { createInstallEffects, type InstallEffect } from './commit/installEffects.ts'
import type { InstallerParts } from './installerDeps.ts'
import type { InstallPlan, PackagePlan } from './plan/packagePlan.ts'
import { runSaga } from './saga.ts'
import { type StagedTree, stagePackage } from './stage/stagePackage.ts'
import { toLockedPackage, toRecord } from './toRecord.ts'

/** Carries a plan out as one saga: all of its packages are installed, or none is. Resolves with their records in order. */
export async function performInstall(
  parts: InstallerParts,
  plan: InstallPlan,
  context: OperationContext & { readonly jobId: string },
): Promise<readonly PackageRecord[]> {
  const { state, lifecycle, events, logger } = parts
  const { jobId } = context
  // Released last, when the saga has ended either way.
  using turns = new DisposableStack()
  const records = await runSaga(
    { journal: toJournal(parts), effects: createInstallEffects(parts), logger },
    { jobId, kind: 'install' },
    async (saga) => {
      const staged: StagedTree[] = []
      for (const one of plan.packages) staged.push(one.present ?? (await stagePackage(parts, one, saga, context)))
      for (const [index, one] of plan.packages.entries()) checkAgainstLock(one, staged[index])
      context.signal.throwIfAborted()
      turns.use(await parts.locks.acquire(parts.home.lockfile, context.signal))
      context.progress({ stage: 'commit' })
      const installedAt = new Date(parts.clock.now()).toISOString()
      const written: PackageRecord[] = []
      const locked: [string, ReturnType<typeof toLockedPackage>][] = []
      for (const [index, one] of plan.packages.entries()) {
        const tree = staged[index]
        if (!tree) continue
        const { id } = one.planned.manifest
        const uid = one.former?.uid ?? state.packages.allocateUid(id, parts.config().firstUid)
        written.push(toRecord(one, tree.tree, { uid, installedAt }))
        locked.push([id, toLockedPackage(one, tree)])
      }
      const write = () => {
        for (const [index, record] of written.entries()) {
          state.packages.put(record)
          const { secrets = {}, former } = plan.packages[index] ?? {}
          for (const name of former?.secrets ?? []) if (!record.secrets.includes(name)) state.secrets.remove(record.id, name)
          for (const [name, value] of Object.entries(secrets)) state.secrets.put(record.id, name, value)
        }
      }
      const finish = plan.packages.flatMap((one): InstallEffect[] => (one.former ? [{ kind: 'tree', digest: one.former.tree }] : []))
      const replaced = plan.packages.flatMap((one) => (one.former ? [one.former.id] : []))
      await whileStopped(parts, replaced, context, () =>
        commitChange(parts, saga, { jobId, locked: Object.fromEntries(locked), write, finish }, context),
      )
      return written
    },
  )
  for (const record of records) {
    lifecycle.added(record.id)
    events.publish('package.installed', record.id, { version: record.version })
  }
  return records
}

/** Nobody starts or stops any of these meanwhile; what ran runs again afterwards, in the version that then is installed. */
export async function whileStopped<T>(
  { lifecycle }: Pick<InstallerParts, 'lifecycle'>,
  ids: readonly string[],
  context: OperationContext,
  body: () => Promise<T>,
): Promise<T> {
  const [first, ...rest] = ids
  if (first === undefined) return body()
  return lifecycle.withStopped(first, () => whileStopped({ lifecycle }, rest, context, body), context)
}

/** The state's journal and its transactions as the saga wants them. */
export const toJournal = ({ state }: Pick<InstallerParts, 'state'>) => ({
  put: state.sagas.put,
  remove: state.sagas.remove,
  list: state.sagas.list,
  transaction: state.transaction,
})

/** A folder has no integrity of its own: when it is installed from the lockfile, its tree is what tells. */
function checkAgainstLock(plan: PackagePlan, staged: StagedTree | undefined): void {
  const { locked, planned } = plan
  if (!locked || !staged || locked.tree === staged.tree || planned.resolution.kind !== 'folder') return
  throw new PkgdError(
    'LOCKFILE_OUTDATED',
    `${planned.manifest.id}: the folder ${planned.resolution.path} is not what pkgd.lock was made from`,
    {
      hint: 'install it without --frozen to lock it as it is now',
    },
  )
}
