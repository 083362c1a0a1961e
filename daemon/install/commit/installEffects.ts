import { rename, rm } from 'node:fs/promises'
import { removeTree } from '../../../registry/store/removeTree.ts'
import { hasCode } from '../../core/errors.ts'
import type { InstallerDeps } from '../installerDeps.ts'
import type { Saga, SagaData, SagaEffects } from '../saga.ts'

/** Everything that an install or an uninstall may have to undo, or to finish after its commit. */
export type InstallEffect =
  /** A scratch path to remove. */
  | { readonly kind: 'path'; readonly path: string }
  /** A tree to remove from the store, unless a package has it. */
  | { readonly kind: 'tree'; readonly digest: string }
  /** The lockfile as it was: a second link to it, made before the change; null when there was none. */
  | { readonly kind: 'lockfile'; readonly backup: string | null }
  /** The volume of a package that was uninstalled with its data. */
  | { readonly kind: 'volume'; readonly packageId: string }

export type InstallSaga = Saga<InstallEffect, InstallEffect>

/** How each effect is undone or finished. All of them bear being repeated. */
export function createInstallEffects(
  deps: Pick<InstallerDeps, 'state' | 'store' | 'home'> & { readonly driver: Pick<InstallerDeps['driver'], 'volumes'> },
): SagaEffects<InstallEffect, InstallEffect> {
  const run = async (effect: InstallEffect): Promise<void> => {
    switch (effect.kind) {
      case 'path':
        return removeTree(effect.path)
      case 'tree':
        if (!deps.state.packages.list().some((record) => record.tree === effect.digest)) await deps.store.remove(effect.digest)
        return
      case 'lockfile':
        return restoreLockfile(deps.home.lockfile, effect.backup)
      case 'volume':
        return deps.driver.volumes.remove(effect.packageId)
    }
  }
  return { undo: run, finish: run, parse: parseSagaData }
}

/** Needs no space: the old file is still there under another name. */
async function restoreLockfile(lockfile: string, backup: string | null): Promise<void> {
  if (backup === null) return rm(lockfile, { force: true })
  try {
    await rename(backup, lockfile)
    // Renaming one of two names of the same file does nothing and says nothing.
    await rm(backup, { force: true })
  } catch (error) {
    // Either it was never made, and the lockfile was not touched, or this was done before.
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

function parseSagaData(data: unknown): SagaData<InstallEffect, InstallEffect> | undefined {
  const { phase, undo, finish } = (data ?? {}) as { phase?: unknown; undo?: unknown; finish?: unknown }
  if (phase === 'doing' && areEffects(undo)) return { phase, undo }
  if (phase === 'committed' && areEffects(finish)) return { phase, finish }
  return undefined
}

const areEffects = (value: unknown): value is InstallEffect[] => Array.isArray(value) && value.every(isEffect)

function isEffect(value: unknown): value is InstallEffect {
  const effect = (value ?? {}) as Record<string, unknown>
  switch (effect.kind) {
    case 'path':
      return typeof effect.path === 'string'
    case 'tree':
      return typeof effect.digest === 'string'
    case 'lockfile':
      return effect.backup === null || typeof effect.backup === 'string'
    case 'volume':
      return typeof effect.packageId === 'string'
    default:
      return false
  }
}
