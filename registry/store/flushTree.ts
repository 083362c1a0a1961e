import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const oneByOneUpTo = 200
const atOnce = 8

/** Gets a tree's content onto the disk. Many files are flushed by one `sync` of their filesystem where there is such a tool: one journal commit, not thousands. */
export async function flushTree(root: string, paths: readonly string[]): Promise<void> {
  if (paths.length > oneByOneUpTo && process.platform === 'linux') {
    if (await syncFilesystem(root)) return
  }
  const pending = paths.values()
  const flushRest = async () => {
    for (const path of pending) await flush(join(root, path))
  }
  await Promise.all(Array.from({ length: atOnce }, flushRest))
}

/** fsync of one file or directory. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** False where there is no tool that can. */
const syncFilesystem = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile('sync', ['-f', path], (error) => resolve(error === null))
  })
