import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { hasCode } from '../../../core/errors.ts'
import { parseDistributionName } from './wheelName.ts'

/** Archives that solved a set of requirements once, kept so that the same set needs no index again. */
export interface Wheelhouse {
  /** The folder of a solution, with its age, or undefined. */
  find(key: string): Promise<{ readonly directory: string; readonly ageMs: number } | undefined>
  /** Takes a folder of archives over as the solution of `key`, in place of an earlier one. */
  keep(key: string, directory: string): Promise<void>
}

export function createWheelhouse(deps: { readonly directory: string; readonly now: () => number }): Wheelhouse {
  const at = (key: string) => join(deps.directory, key)
  return {
    async find(key) {
      try {
        const { mtimeMs } = await lstat(at(key))
        return { directory: at(key), ageMs: deps.now() - mtimeMs }
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined
        throw error
      }
    },
    async keep(key, directory) {
      await mkdir(deps.directory, { recursive: true })
      await rm(at(key), { recursive: true, force: true })
      await rename(directory, at(key))
    },
  }
}

/** The key of a solution: what was required, and for which Python. */
export function toSolutionKey(requirements: string, python: string, sdist: boolean): string {
  const minor = python.split('.').slice(0, 2).join('.')
  return createHash('sha256')
    .update(JSON.stringify([requirements, minor, process.arch, sdist]))
    .digest('hex')
}

/** The archives in a folder with their integrity, sorted by file name. Anything that is no plain archive is left out. */
export async function listArchives(directory: string): Promise<{ file: string; key: string; integrity: string }[]> {
  const archives = []
  for (const file of (await readdir(directory)).sort()) {
    const named = parseDistributionName(file)
    const path = join(directory, file)
    if (!named || !(await lstat(path)).isFile()) continue
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    archives.push({ file, key: `${named.name}@${named.version}`, integrity: `sha256-${hash.digest('base64')}` })
  }
  return archives
}
