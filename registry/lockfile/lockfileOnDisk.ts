import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'
import { formatLockfile } from './formatLockfile.ts'
import { emptyLockfile, type Lockfile } from './lockfile.ts'
import { parseLockfile } from './parseLockfile.ts'

/** The lockfile at a path; an empty one where there is no file. Throws LOCKFILE_DAMAGED. */
export async function readLockfile(path: string): Promise<Lockfile> {
  try {
    return parseLockfile(await readFile(path, 'utf8'), path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return emptyLockfile
    throw error
  }
}

/**
 * Replaces the lockfile: written beside it, flushed, renamed over it, the folder flushed. A death at any moment leaves the old file or the new one.
 * It does not look at what is there: a damaged file has to be set aside before.
 */
export async function writeLockfile(path: string, lockfile: Lockfile): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(formatLockfile(lockfile))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await flushFolder(dirname(path))
}

/** Reads, changes and writes; a damaged file is LOCKFILE_DAMAGED and stays as it is. Callers must not run two at once on one path. */
export async function updateLockfile(path: string, change: (lockfile: Lockfile) => Lockfile): Promise<Lockfile> {
  const before = await readLockfile(path)
  const after = change(before)
  if (formatLockfile(after) !== formatLockfile(before)) await writeLockfile(path, after)
  return after
}

/** Moves a damaged lockfile to `<path>.damaged-<time>` and resolves with that name, which no other file had. `now` is in ms since the epoch. */
export async function setAsideLockfile(path: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '')
  for (let attempt = 0; ; attempt++) {
    const target = `${path}.damaged-${stamp}${attempt === 0 ? '' : `-${attempt}`}`
    try {
      // Reserves the name, so that a file set aside within the same second is never overwritten.
      await (await open(target, 'wx', 0o600)).close()
    } catch (error) {
      if (hasCode(error, 'EEXIST')) continue
      throw error
    }
    try {
      await rename(path, target)
    } catch (error) {
      await rm(target, { force: true })
      throw error
    }
    await flushFolder(dirname(path))
    return target
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
