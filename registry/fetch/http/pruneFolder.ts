import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../../daemon/core/errors.ts'

/** Nothing younger is removed: it may be in use. */
const youngestMs = 60 * 60_000

/** Keeps a cache folder below a size: the files that were not used for longest go first. */
export async function pruneFolder(directory: string, keepBytes: number, now: number): Promise<void> {
  const files: { path: string; size: number; usedAt: number }[] = []
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const stats = await lstat(path).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    })
    if (stats?.isFile()) files.push({ path, size: stats.size, usedAt: stats.mtimeMs })
  }
  let bytes = files.reduce((sum, file) => sum + file.size, 0)
  for (const file of files.sort((left, right) => left.usedAt - right.usedAt)) {
    if (bytes <= keepBytes || file.usedAt > now - youngestMs) return
    await rm(file.path, { force: true })
    bytes -= file.size
  }
}
