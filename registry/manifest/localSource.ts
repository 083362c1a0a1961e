import { stat } from 'node:fs/promises'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'

/** Errors: SOURCE_NOT_FOUND where there is nothing, or nothing that could be a package's folder. */
export async function demandFolder(path: string): Promise<void> {
  const stats = await statIfThere(path)
  if (!stats)
    throw new PkgdError('SOURCE_NOT_FOUND', `There is no folder ${path}`, { hint: 'check the path; a folder is named as ./folder' })
  if (!stats.isDirectory()) {
    throw new PkgdError('SOURCE_NOT_FOUND', `${path} is neither a folder nor a .tgz, .tar.gz or .tar archive`, {
      hint: 'name the folder that holds its package.json, or an archive of it',
    })
  }
}

/** Errors: SOURCE_NOT_FOUND where there is nothing, or no file: a pipe or device is not even opened. */
export async function demandArchive(path: string): Promise<void> {
  const stats = await statIfThere(path)
  if (!stats) throw new PkgdError('SOURCE_NOT_FOUND', `There is no archive ${path}`, { hint: 'check the path' })
  if (!stats.isFile()) {
    throw new PkgdError('SOURCE_NOT_FOUND', `${path} is named like an archive, but it is ${stats.isDirectory() ? 'a folder' : 'no file'}`, {
      hint: stats.isDirectory() ? 'give the folder a name without that ending' : 'name an archive',
    })
  }
}

const statIfThere = (path: string) =>
  stat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined
    throw error
  })
