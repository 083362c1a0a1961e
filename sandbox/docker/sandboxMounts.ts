import { isAbsolute, normalize } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { MountGrant } from '../../daemon/core/types.ts'
import type { VolumeRef } from '../sandboxDriver.ts'
import type { ContainerMount } from './containerSpec.ts'

/** Where a sandbox's own parts are: nothing of the user's goes over them or into them. */
const always = ['/run/pkgd', '/proc', '/sys', '/dev']

export const packageTargets: readonly string[] = ['/app', ...always]
/** A build's mounts are the caller's own choice, /app among them. */
export const buildTargets: readonly string[] = always

/** The user's mounts as the container's. Errors: MOUNT_REFUSED for a path that is not absolute or would replace a part of the sandbox's own. */
export function toMounts(grants: readonly MountGrant[], reserved: readonly string[]): ContainerMount[] {
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
    return { kind: 'bind', source, target: at, readOnly }
  })
}

export const toDataMount = (volume: VolumeRef): ContainerMount => ({
  kind: volume.path === null ? 'volume' : 'bind',
  source: volume.path ?? volume.name,
  target: '/data',
  readOnly: false,
})
