import { constants, type Stats } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { demandFolder } from '../manifest/localSource.ts'
import type { ArchiveLimits } from '../store/archiveLimits.ts'
import { pickEscapingLinks } from '../store/resolveLinks.ts'

/** What is made anew at install, or is nobody's but the author's. */
const leftOut = new Set(['.git', '.hg', '.svn', 'node_modules', '__pycache__', '.DS_Store', '.venv'])

/**
 * Copies a package's folder, without version control, installed dependencies and virtual environments. What is neither a file, a folder nor a link that stays inside is refused,
 * and so is more than an archive may hold. Errors: SOURCE_NOT_FOUND, ARCHIVE_UNSAFE, ARCHIVE_TOO_LARGE, OPERATION_CANCELLED.
 */
export async function fetchFolder(source: string, directory: string, limits: ArchiveLimits, context: OperationContext): Promise<void> {
  const links = new Map<string, string>()
  const budget = { entries: 0, bytes: 0 }

  const spend = (stats: Stats) => {
    budget.entries += 1
    budget.bytes += stats.isFile() ? stats.size : 0
    if (budget.entries > limits.archiveEntries) throw tooLarge(`${limits.archiveEntries} entries`)
    if (budget.bytes > limits.archiveBytes) throw tooLarge(`${limits.archiveBytes} bytes`)
  }
  const tooLarge = (what: string) =>
    new PkgdError('ARCHIVE_TOO_LARGE', `The folder ${source} holds more than ${what}`, {
      hint: 'install the package from a folder with nothing else in it, or raise limits.archive and limits.archive_entries in pkgd.yaml',
    })

  const copy = async (path: string): Promise<void> => {
    const from = join(source, path)
    const stats = await lstat(from)
    spend(stats)
    if (stats.isDirectory()) return copyFolder(path)
    if (stats.isSymbolicLink()) {
      links.set(path, await readlink(from))
      return
    }
    if (!stats.isFile()) {
      throw new PkgdError('ARCHIVE_UNSAFE', `The folder ${source} holds "${path}", which is neither a file, a folder nor a link`, {
        hint: 'remove it from the package',
      })
    }
    await copyFile(from, join(directory, path), constants.COPYFILE_FICLONE)
  }

  const copyFolder = async (path: string): Promise<void> => {
    const names = (await readdir(join(source, path))).sort()
    if (names.includes('pyvenv.cfg')) return
    if (path !== '') await mkdir(join(directory, path), { mode: 0o755 })
    for (const name of names) {
      if (leftOut.has(name)) continue
      if (context.signal.aborted) throw new PkgdError('OPERATION_CANCELLED', `Copying ${source} was cancelled`)
      await copy(path === '' ? name : `${path}/${name}`)
    }
  }

  await demandFolder(source)
  await copyFolder('')
  const [escaping] = pickEscapingLinks(links)
  if (escaping !== undefined) {
    throw new PkgdError('ARCHIVE_UNSAFE', `The link "${escaping}" in ${source} points out of the package, to "${links.get(escaping)}"`, {
      hint: 'put the file itself there',
    })
  }
  for (const [path, target] of links) await symlink(target, join(directory, path))
}
