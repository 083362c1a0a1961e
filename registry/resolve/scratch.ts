import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../store/removeTree.ts'

/** Runs `use` with an empty directory below `tmp` that is gone afterwards, whatever happens. */
export async function withScratch<T>(tmp: string, use: (directory: string) => Promise<T>): Promise<T> {
  await mkdir(tmp, { recursive: true })
  const directory = await mkdtemp(join(tmp, 'resolve-'))
  try {
    return await use(directory)
  } finally {
    await removeTree(directory)
  }
}
