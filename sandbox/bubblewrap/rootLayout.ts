import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** What stands at the top of an image's root: the sandbox's own root is an empty file system into which these are put, so that mounts find a place beside them. */
export interface RootLayout {
  /** Directories that are mounted read-only. */
  readonly directories: readonly string[]
  readonly links: readonly { readonly name: string; readonly target: string }[]
}

/** Made by the sandbox itself, or left empty for mounts. */
const ownPlaces = new Set(['proc', 'dev', 'sys', 'tmp', 'run', 'app', 'data'])

export async function readRootLayout(root: string): Promise<RootLayout> {
  const directories: string[] = []
  const links: { name: string; target: string }[] = []
  for (const entry of await readdir(root, { withFileTypes: true })) {
    if (ownPlaces.has(entry.name)) continue
    if (entry.isSymbolicLink()) links.push({ name: entry.name, target: await readlink(join(root, entry.name)) })
    else if (entry.isDirectory() && (await readdir(join(root, entry.name))).length > 0) directories.push(entry.name)
  }
  return { directories: directories.sort(), links }
}
