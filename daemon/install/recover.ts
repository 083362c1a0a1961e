import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../../registry/store/removeTree.ts'
import { createInstallEffects } from './commit/installEffects.ts'
import type { InstallerParts } from './installerDeps.ts'
import { toJournal } from './performInstall.ts'
import { recoverSagas } from './saga.ts'

/**
 * Undoes what a dead daemon left half done and finishes what it had committed, then removes scratch space, stagings and trees that no package has. With a
 * state that was set aside or restored nothing is swept: what it does not know may be wanted. Resolves with the jobs that were settled.
 */
export async function recover(parts: InstallerParts): Promise<readonly string[]> {
  const { state, store, home, logger } = parts
  const settled = await recoverSagas({ journal: toJournal(parts), effects: createInstallEffects(parts), logger })
  await mkdir(home.tmp, { recursive: true, mode: 0o700 })
  for (const name of await readdir(home.tmp)) await removeTree(join(home.tmp, name))
  if (state.restored) return settled
  const removed = await store.sweep(new Set(state.packages.list().map((record) => record.tree)))
  if (settled.length > 0 || removed.length > 0)
    logger.info('Cleaned up after an earlier daemon', { settled: settled.length, removed: removed.length })
  return settled
}
