import type { MountRequest } from '../../../registry/manifest/manifest.ts'
import { PkgdError } from '../../core/errors.ts'
import type { MountGrant } from '../../core/types.ts'

/** The user's mounts over those of an earlier install, by target. A mount that the manifest asks for read-only is never more than that. */
export function mergeMounts(
  asked: readonly MountRequest[],
  given: readonly MountGrant[],
  former: readonly MountGrant[],
): readonly MountGrant[] {
  const targets = given.map((mount) => mount.target)
  const twice = targets.find((target, index) => targets.indexOf(target) !== index)
  if (twice) throw new PkgdError('MOUNT_REFUSED', `Two mounts have the target ${twice}`, { hint: 'give each mount a target of its own' })
  const merged = [...former.filter((mount) => !targets.includes(mount.target)), ...given]
  return merged
    .map((mount) => ({ ...mount, readOnly: mount.readOnly || asked.some((one) => one.target === mount.target && one.readOnly) }))
    .sort((a, b) => (a.target < b.target ? -1 : 1))
}
