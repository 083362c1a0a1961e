import type { MountRequest } from '../../../registry/manifest/manifest.ts'
import { PkgdError } from '../../core/errors.ts'
import type { MountGrant } from '../../core/types.ts'

/** The user's mounts, else those of an earlier install. A mount that the manifest asks for read-only is never more than that. */
export function mergeMounts(
  asked: readonly MountRequest[],
  given: readonly MountGrant[] | undefined,
  former: readonly MountGrant[],
): readonly MountGrant[] {
  const mounts = given ?? former
  const targets = mounts.map((mount) => mount.target)
  const twice = targets.find((target, index) => targets.indexOf(target) !== index)
  if (twice) throw new PkgdError('MOUNT_REFUSED', `Two mounts have the target ${twice}`, { hint: 'give each mount a target of its own' })
  return mounts
    .map((mount) => ({ ...mount, readOnly: mount.readOnly || asked.some((one) => one.target === mount.target && one.readOnly) }))
    .sort((a, b) => (a.target < b.target ? -1 : 1))
}
