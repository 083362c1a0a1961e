import { chmod, lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'

/** Removes a directory with all below it, read-only directories included. What is not there is fine. */
export async function removeTree(directory: string): Promise<void> {
  if (process.getuid?.() !== 0) await makeWritable(directory)
  await rm(directory, { recursive: true, force: true, maxRetries: 3 })
}

async function makeWritable(directory: string): Promise<void> {
  try {
    if (!(await lstat(directory)).isDirectory()) return
    await chmod(directory, 0o700)
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (entry.isDirectory()) await makeWritable(join(directory, entry.name))
    }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}
