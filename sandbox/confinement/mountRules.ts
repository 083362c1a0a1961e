import { isAbsolute, normalize } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import { findTouched } from '../../daemon/core/mountTargets.ts'
import type { MountGrant } from '../../daemon/core/types.ts'

/**
 * The user's mounts, their targets without a trailing slash. Errors: MOUNT_REFUSED for a path that is not absolute or that would cover one of
 * `parts`, lie in it or hold it.
 */
export function checkMounts(grants: readonly MountGrant[], parts: readonly string[]): MountGrant[] {
  return grants.map(({ source, target, readOnly }) => {
    if (!isAbsolute(source) || !isAbsolute(target) || normalize(target) !== target) {
      throw new PkgdError('MOUNT_REFUSED', `The mount ${source}:${target} needs an absolute source and a plain absolute target`)
    }
    const at = target.replace(/\/+$/, '')
    const over = at === '' ? '/' : findTouched(at, parts)
    if (over !== undefined) {
      throw new PkgdError('MOUNT_REFUSED', `A mount at ${target} would cover ${over} of the sandbox`, {
        hint: 'choose another target, such as /docs',
      })
    }
    return { source, target: at, readOnly }
  })
}
