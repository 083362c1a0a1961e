import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { MountGrant } from '../../daemon/core/types.ts'
import { openSource } from '../confinement/mountSources.ts'

/**
 * That what the engine mounted is what was granted: it looks a source up by its path, some time after that path was checked. `init` is the container's PID 1 as
 * this host has it. Errors: MOUNT_REFUSED.
 */
export async function confirmMounts(granted: readonly MountGrant[], init: number): Promise<void> {
  if (granted.length === 0) return
  const mounted = await listMounted(init)
  // It has ended: there is nothing left to confirm, nor anybody who has the mount.
  if (mounted === null) return
  for (const grant of granted) {
    await using place = await openSource(grant)
    const { dev, ino } = await place.stat({ bigint: true })
    if (mounted.has(`${dev}:${ino}`)) continue
    throw new PkgdError('MOUNT_REFUSED', `${grant.source} was replaced while it was being mounted at ${grant.target}`, {
      hint: 'find out what moves it, then start the package again',
    })
  }
}

/** What is at each mount point of a container, as device and inode. */
async function listMounted(init: number): Promise<ReadonlySet<string> | null> {
  try {
    const mountinfo = await readFile(`/proc/${init}/mountinfo`, 'utf8')
    const points = mountinfo.split('\n').flatMap((line) => line.split(' ')[4] ?? [])
    const found = await Promise.all(points.map((point) => identify(join(`/proc/${init}/root`, toPath(point)))))
    return new Set(found)
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return null
    throw error
  }
}

async function identify(path: string): Promise<string> {
  try {
    const { dev, ino } = await stat(path, { bigint: true })
    return `${dev}:${ino}`
  } catch (error) {
    // Covered by another mount, or gone with the container.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR') || hasCode(error, 'EACCES')) return ''
    throw error
  }
}

/** The kernel writes spaces and the like as octal (proc(5)). */
const toPath = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
