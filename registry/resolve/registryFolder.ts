import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import type { Candidate } from './resolution.ts'
import { resolveArchive, resolveFolder } from './resolveFiles.ts'
import type { ResolverDeps } from './resolverDeps.ts'

const archive = /\.(tgz|tar\.gz|tar)$/i

/** What a folder registry holds, and what in it is broken. */
export interface FolderListing {
  readonly candidates: readonly Candidate[]
  readonly broken: readonly { readonly path: string; readonly error: unknown }[]
}

/**
 * Reads a folder that holds packages: folders and archives, directly or one level down (`<id>/<version>/`). What an archive says is remembered as long as the file is the same.
 * A package that cannot be read hides no other one. A folder that does not exist holds nothing.
 */
export function createRegistryFolders(deps: ResolverDeps) {
  const remembered = new Map<string, { readonly stamp: string; readonly candidate: Candidate }>()

  const readArchive = async (path: string, context: OperationContext): Promise<Candidate> => {
    const { size, mtimeNs, ino } = await lstat(path, { bigint: true })
    const stamp = `${size} ${mtimeNs} ${ino}`
    const known = remembered.get(path)
    if (known?.stamp === stamp) return known.candidate
    const candidate = await resolveArchive(deps, path, context)
    remembered.set(path, { stamp, candidate })
    return candidate
  }

  const listNames = async (path: string): Promise<string[]> => {
    try {
      return (await readdir(path)).filter((name) => !name.startsWith('.') && name !== 'node_modules').sort()
    } catch (error) {
      if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return []
      throw error
    }
  }

  const read = async (folder: string, depth: number, context: OperationContext): Promise<FolderListing> => {
    const candidates: Candidate[] = []
    const broken: { path: string; error: unknown }[] = []
    for (const name of await listNames(folder)) {
      const path = join(folder, name)
      try {
        if (archive.test(name)) candidates.push(await readArchive(path, context))
        else if ((await listNames(path)).includes('package.json')) candidates.push(await resolveFolder(path))
        else if (depth > 0) {
          const below = await read(path, depth - 1, context)
          candidates.push(...below.candidates)
          broken.push(...below.broken)
        }
      } catch (error) {
        if (hasCode(error, 'OPERATION_CANCELLED')) throw error
        broken.push({ path, error })
      }
    }
    return { candidates, broken }
  }

  return { list: (folder: string, context: OperationContext): Promise<FolderListing> => read(folder, 1, context) }
}

export type RegistryFolders = ReturnType<typeof createRegistryFolders>
