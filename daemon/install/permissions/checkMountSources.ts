import { checkMountTarget } from '../../../registry/manifest/mountTarget.ts'
import { PkgdError } from '../../core/errors.ts'
import { isWithin, judgeMountSource, type KeptPlaces } from '../../core/mountSource.ts'
import type { MountGrant } from '../../core/types.ts'

/**
 * Mounts whose sources were found and allowed, as real paths; a start judges them again. `remembered` is the package that got them at an earlier install, null
 * where they are given now: nobody typed them this time, so that a refusal says how to be rid of them. Errors: MOUNT_REFUSED.
 */
export async function checkMountSources(
  mounts: readonly MountGrant[],
  kept: KeptPlaces,
  remembered: string | null = null,
): Promise<MountGrant[]> {
  const resolved: MountGrant[] = []
  for (const mount of mounts) resolved.push({ ...mount, source: await checkMount(mount, kept, remembered) })
  for (const mount of resolved) {
    const above = resolved.find((other) => !other.readOnly && other.source !== mount.source && isWithin(mount.source, other.source))
    if (above) {
      const hint = `mount ${above.source} alone, or read-only (:ro)`
      throw refuse(
        mount,
        `the package may write to ${above.source}, which it lies in, and could put something else in its place`,
        hint,
        remembered,
      )
    }
  }
  return resolved
}

async function checkMount(mount: MountGrant, kept: KeptPlaces, remembered: string | null): Promise<string> {
  const wrongTarget = checkMountTarget(mount.target)
  if (wrongTarget) throw refuse(mount, `the target ${wrongTarget}`, 'choose a target such as /docs', remembered)
  const verdict = await judgeMountSource(mount.source, kept)
  if ('why' in verdict) throw refuse(mount, verdict.why, verdict.hint, remembered)
  return verdict.source
}

function refuse({ source, target }: MountGrant, why: string, hint: string, remembered: string | null): PkgdError {
  if (remembered === null) return new PkgdError('MOUNT_REFUSED', `${source} cannot be mounted at ${target}: ${why}`, { hint })
  const message = `${source}, which an earlier install gave ${remembered} at ${target}, cannot be mounted any more: ${why}`
  return new PkgdError('MOUNT_REFUSED', message, {
    hint: `${hint}; or install ${remembered} with --mount <path>:${target} for another, with --mount none for no mount at all`,
  })
}
