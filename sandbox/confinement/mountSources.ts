import { constants } from 'node:fs'
import { type FileHandle, open, readlink } from 'node:fs/promises'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import { judgeMountSource, type KeptPlaces } from '../../daemon/core/mountSource.ts'
import type { MountGrant } from '../../daemon/core/types.ts'

/** Opens a place, not what it holds (linux/fcntl.h); Node does not name it. */
const O_PATH = 0o10000000

/**
 * Sources that were allowed at install, judged again at a start: whoever writes to a folder above one may have put something else in its place.
 * Errors: MOUNT_REFUSED.
 */
export async function checkSources(grants: readonly MountGrant[], kept: KeptPlaces): Promise<void> {
  for (const { source, target } of grants) {
    const verdict = await judgeMountSource(source, kept)
    if ('why' in verdict) throw refuse(source, target, verdict.why, verdict.hint)
    if (verdict.source !== source) throw moved(source, target, verdict.source)
  }
}

/** The very place that a path names, and not where a link leads, held until it is closed: what becomes of the path then changes nothing. Errors: MOUNT_REFUSED. */
export async function openSource({ source, target }: MountGrant): Promise<FileHandle> {
  const place = await open(source, O_PATH | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) throw refuse(source, target, 'it does not exist', 'create it first')
    throw error
  })
  try {
    const found = await readlink(`/proc/self/fd/${place.fd}`)
    if (found !== source) throw moved(source, target, found)
    // The last step is not followed: a link is opened as itself.
    if ((await place.stat()).isSymbolicLink()) throw moved(source, target, await readlink(source))
    return place
  } catch (error) {
    await place.close()
    throw error
  }
}

const moved = (source: string, target: string, found: string): PkgdError =>
  refuse(source, target, `it leads to ${found} now`, 'put the folder back in its place, or install the package again with --mount')

const refuse = (source: string, target: string, why: string, hint: string): PkgdError =>
  new PkgdError('MOUNT_REFUSED', `${source} cannot be mounted at ${target}: ${why}`, { hint })
