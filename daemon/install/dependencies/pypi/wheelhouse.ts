import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { hasCode } from '../../../core/errors.ts'
import { parseDistributionName } from './parseDistributionName.ts'

/** Archives that solved a set of requirements once, kept so that the same set, or what it was solved to, needs no index again. */
export interface Wheelhouse {
  /** The folder of a solution, with the age of what led to it, or undefined. */
  find(key: string): Promise<{ readonly directory: string; readonly ageMs: number } | undefined>
  /** Takes a folder of archives over under the key of what was solved; `asked`, the key of what was required, leads to it too. */
  keep(solved: string, asked: string, directory: string): Promise<void>
}

export function createWheelhouse(deps: { readonly directory: string; readonly now: () => number }): Wheelhouse {
  const folder = (key: string) => join(deps.directory, key)
  const pointer = (key: string) => join(deps.directory, `${key}.solved`)
  return {
    async find(key) {
      const solved = (await readIfThere(pointer(key)))?.trim() ?? key
      try {
        const { mtimeMs } = await lstat(solved === key ? folder(key) : pointer(key))
        await access(folder(solved))
        return { directory: folder(solved), ageMs: deps.now() - mtimeMs }
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined
        throw error
      }
    },
    async keep(solved, asked, directory) {
      await mkdir(deps.directory, { recursive: true })
      try {
        await rename(directory, folder(solved))
      } catch (error) {
        // The same archives are there already.
        if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error
      }
      if (asked === solved) return
      const temporary = `${pointer(asked)}.${randomBytes(6).toString('hex')}.tmp`
      await writeFile(temporary, `${solved}\n`)
      await rename(temporary, pointer(asked))
    },
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
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
