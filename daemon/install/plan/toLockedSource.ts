import type { LockedPackage } from '../../../registry/lockfile/lockfile.ts'
import type { Candidate, Resolution, Source } from '../../../registry/resolve/resolution.ts'
import { assertNever, PkgdError } from '../../core/errors.ts'

/** The source that looks a locked resolution up again. */
export function toLockedSource(resolution: Resolution): Source {
  switch (resolution.kind) {
    case 'folder':
    case 'archive':
      return { kind: resolution.kind, path: resolution.path }
    case 'npm':
      return { kind: 'npm', name: resolution.name, range: resolution.version }
    case 'pypi':
      return { kind: 'pypi', name: resolution.name, range: `==${resolution.version}` }
    case 'git':
      return { kind: 'git', url: resolution.url, ref: resolution.commit }
    case 'https':
      return { kind: 'https', url: resolution.url, integrity: resolution.integrity }
    default:
      return assertNever(resolution)
  }
}

/** Refuses what was found where the lockfile names something else. */
export function checkLocked(id: string, candidate: Candidate, locked: LockedPackage): void {
  const hint = 'install it without --frozen to lock it anew'
  const { manifest, resolution } = candidate
  if (manifest.id !== id || manifest.version !== locked.version) {
    throw new PkgdError(
      'LOCKFILE_OUTDATED',
      `pkgd.lock has ${id} ${locked.version}, its source now has ${manifest.id} ${manifest.version}`,
      { hint },
    )
  }
  const [now, then] = [integrityOf(resolution), integrityOf(locked.resolution)]
  if (now !== null && then !== null && !now.split(/\s+/).some((one) => then.split(/\s+/).includes(one))) {
    throw new PkgdError('INTEGRITY_MISMATCH', `${id} ${locked.version} is locked as ${then}, its source now has ${now}`, {
      hint: 'the same version with other content: do not use it before you know why',
    })
  }
  const wanted = Object.entries(manifest.dependencies.extensions)
  const changed = wanted.find(([needed, range]) => locked.extensions[needed] !== range)
  if (changed || wanted.length !== Object.keys(locked.extensions).length) {
    throw new PkgdError('LOCKFILE_OUTDATED', `${id} ${locked.version} needs other extensions than pkgd.lock says`, { hint })
  }
}

const integrityOf = (resolution: Resolution): string | null => ('integrity' in resolution ? resolution.integrity : null)
