import { existsSync } from 'node:fs'
import { link } from 'node:fs/promises'
import type { LockedPackage, Lockfile } from '../../../registry/lockfile/lockfile.ts'
import { updateLockfile } from '../../../registry/lockfile/lockfileOnDisk.ts'
import type { OperationContext } from '../../core/ports.ts'
import type { InstallerParts } from '../installerDeps.ts'
import { mendLockfile } from './currentLockfile.ts'
import type { InstallEffect, InstallSaga } from './installEffects.ts'

export interface Change {
  readonly jobId: string
  /** Packages as the lockfile will have them; null takes one out. */
  readonly locked: Readonly<Record<string, LockedPackage | null>>
  /** Writes the records; part of the transaction that commits. */
  readonly write: () => void
  /** What is left to do once it is committed. */
  readonly finish: readonly InstallEffect[]
}

/**
 * The lockfile, then the records in the very transaction that ends the saga: whatever dies in between, the two agree at the next start. The caller holds the
 * lock of the lockfile until the saga has ended, undone or finished.
 */
export async function commitChange(
  parts: Pick<InstallerParts, 'home' | 'state' | 'clock' | 'logger'>,
  saga: InstallSaga,
  change: Change,
  context: OperationContext,
): Promise<void> {
  const { lockfile } = parts.home
  await mendLockfile(parts, context)
  const backup = existsSync(lockfile) ? `${lockfile}.${change.jobId}.old` : null
  await saga.step('lockfile', [{ kind: 'lockfile', backup }], async () => {
    // A second name for the file as it is: the file is only ever replaced whole, and going back takes no space.
    if (backup) await link(lockfile, backup)
    await updateLockfile(lockfile, (before) => merge(before, change.locked))
  })
  const write = () => {
    change.write()
    for (const [id, entry] of Object.entries(change.locked)) if (entry) parts.state.locks.put(id, entry)
  }
  saga.commit(write, [...(backup ? [{ kind: 'path' as const, path: backup }] : []), ...change.finish])
}

/** Takes out, replaces and adds. */
export function merge(before: Lockfile, locked: Change['locked']): Lockfile {
  const packages: Record<string, LockedPackage> = { ...before.packages }
  for (const [id, entry] of Object.entries(locked)) {
    if (entry) packages[id] = entry
    else delete packages[id]
  }
  return { ...before, packages }
}
