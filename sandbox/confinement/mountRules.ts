import { isAbsolute, normalize } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { MountGrant } from '../../daemon/core/types.ts'

/** Where a sandbox's own parts are: nothing of the user's goes over them or into them. */
const always = ['/run/pkgd', '/proc', '/sys', '/dev']

export const packageTargets: readonly string[] = ['/app', ...always]
/** A build's mounts are the caller's own choice, /app among them. */
export const buildTargets: readonly string[] = always

/**
 * The user's mounts, their targets without a trailing slash. Errors: MOUNT_REFUSED for a path that is not absolute or that would cover one of
 * `reserved`, lie in it or hold it.
 */
export function checkMounts(grants: readonly MountGrant[], reserved: readonly string[]): MountGrant[] {
  return grants.map(({ source, target, readOnly }) => {
    if (!isAbsolute(source) || !isAbsolute(target) || normalize(target) !== target) {
      throw new PkgdError('MOUNT_REFUSED', `The mount ${source}:${target} needs an absolute source and a plain absolute target`)
    }
    const at = target.replace(/\/+$/, '')
    const over = at === '' ? '/' : reserved.find((path) => at === path || at.startsWith(`${path}/`) || path.startsWith(`${at}/`))
    if (over !== undefined) {
      throw new PkgdError('MOUNT_REFUSED', `A mount at ${target} would cover ${over} of the sandbox`, {
        hint: 'choose another target, such as /docs',
      })
    }
    return { source, target: at, readOnly }
  })
}
