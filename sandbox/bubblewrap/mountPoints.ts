import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { MountGrant } from '../../daemon/core/types.ts'
import type { RootLayout } from './rootLayout.ts'

/**
 * A mount needs a source, and a place: in the sandbox's own empty root one is made, inside an image's directory, which is read-only, it has to be there.
 * Errors: MOUNT_REFUSED.
 */
export async function checkMountPoints(mounts: readonly MountGrant[], root: string, layout: RootLayout): Promise<void> {
  for (const { source, target } of mounts) {
    if (!(await exists(source))) throw new PkgdError('MOUNT_REFUSED', `The mount's source ${source} does not exist`)
    const top = target.split('/')[1] ?? ''
    const isLink = layout.links.some(({ name }) => name === top)
    const isImages = layout.directories.includes(top)
    if (!isLink && (!isImages || (await exists(join(root, target))))) continue
    throw new PkgdError('MOUNT_REFUSED', `There is no place for a mount at ${target}: /${top} is the image's own, and read-only`, {
      hint: 'choose a target beside it, such as /docs',
    })
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return false
    throw error
  }
}
