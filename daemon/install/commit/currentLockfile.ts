import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import type { Lockfile } from '../../../registry/lockfile/lockfile.ts'
import { readLockfile, setAsideLockfile, writeLockfile } from '../../../registry/lockfile/lockfileOnDisk.ts'
import { hasCode, type PkgdError, toPkgdError } from '../../core/errors.ts'
import type { OperationContext } from '../../core/ports.ts'
import type { InstallerParts } from '../installerDeps.ts'

interface CurrentLockfile {
  readonly lockfile: Lockfile
  /** Why the file is not what it was read from. */
  readonly lost: PkgdError | 'missing' | null
}

/** The lockfile as it is; in place of one that is damaged or gone, what it said of the packages that are installed. Writes nothing. */
export async function readCurrentLockfile({ home, state }: Pick<InstallerParts, 'home' | 'state'>): Promise<CurrentLockfile> {
  const recall = (): Lockfile => ({ lockfileVersion: 1, packages: state.locks.list() })
  if (!existsSync(home.lockfile)) return { lockfile: recall(), lost: 'missing' }
  try {
    return { lockfile: await readLockfile(home.lockfile), lost: null }
  } catch (error) {
    if (!hasCode(error, 'LOCKFILE_DAMAGED')) throw error
    return { lockfile: recall(), lost: toPkgdError(error) }
  }
}

/** Sets a damaged lockfile aside and writes it anew, so that it can be changed. The caller holds its lock. */
export async function mendLockfile(
  parts: Pick<InstallerParts, 'home' | 'state' | 'clock' | 'logger'>,
  context: OperationContext,
): Promise<void> {
  const { lockfile, lost } = await readCurrentLockfile(parts)
  if (lost === null) return
  if (lost !== 'missing') {
    const aside = await setAsideLockfile(parts.home.lockfile, parts.clock.now())
    parts.logger.warn('The lockfile was damaged: it is set aside and made anew from what is installed', { aside, reason: lost.message })
    context.progress({ stage: 'lockfile', message: `pkgd.lock was damaged; it is kept as ${basename(aside)} and made anew` })
  }
  if (Object.keys(lockfile.packages).length > 0) await writeLockfile(parts.home.lockfile, lockfile)
}
