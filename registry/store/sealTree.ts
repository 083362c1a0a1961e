import { type BigIntStats, chmodSync, copyFileSync, lchownSync, lstatSync, readlinkSync, renameSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import { hashFile, hashText } from './hashFile.ts'
import { pickEscapingLinks } from './resolveLinks.ts'
import { createTimeSlices } from './timeSlices.ts'
import { byPath, type RecordedEntry, toStamp } from './treeRecord.ts'
import { walkTree } from './walkTree.ts'

/**
 * Makes a tree fit for the store and says what is in it: files 0444 or 0555, directories 0555 (the root stays writable, so that it can still be renamed),
 * owned by this process, hard links broken, empty directories dropped. Anything but files, directories and links that stay inside is ARCHIVE_UNSAFE.
 */
export async function sealTree(root: string): Promise<RecordedEntry[]> {
  const owner = process.getuid?.()
  const directories: string[] = []
  const children = new Map<string, number>()
  const files: { path: string; stats: BigIntStats }[] = []
  const links = new Map<string, string>()

  const adopt = (path: string, stats: BigIntStats) => {
    if (owner !== undefined && stats.uid !== BigInt(owner)) lchownSync(join(root, path), owner, process.getgid?.() ?? owner)
  }
  const countIn = (path: string) => {
    const parent = toParent(path)
    children.set(parent, (children.get(parent) ?? 0) + 1)
  }

  await walkTree(root, {
    directory(path, stats) {
      adopt(path, stats)
      if ((stats.mode & 0o700n) !== 0o700n) chmodSync(join(root, path), 0o755)
      directories.push(path)
      if (path !== '') countIn(path)
    },
    entry(path, stats) {
      adopt(path, stats)
      countIn(path)
      if (stats.isFile()) files.push({ path, stats })
      else if (stats.isSymbolicLink()) links.set(path, readlinkSync(join(root, path)))
      else throw new PkgdError('ARCHIVE_UNSAFE', `"${path}" is neither a file, a directory nor a link`)
    },
  })
  const [escaping] = pickEscapingLinks(links)
  if (escaping !== undefined) {
    throw new PkgdError('ARCHIVE_UNSAFE', `The link "${escaping}" points out of the package, to "${links.get(escaping)}"`)
  }

  const entries: RecordedEntry[] = []
  const slices = createTimeSlices()
  for (const { path, stats } of files) {
    entries.push(await sealFile(root, path, stats))
    await slices.rest()
  }
  for (const [path, target] of links) {
    const stats = lstatSync(join(root, path), { bigint: true })
    entries.push({ path, kind: 'link', mode: 0o777, size: Buffer.byteLength(target), hash: hashText(target), ...toStamp(stats) })
  }
  for (const path of directories.reverse()) {
    if (path === '') continue
    if ((children.get(path) ?? 0) > 0) chmodSync(join(root, path), 0o555)
    else {
      rmdirSync(join(root, path))
      const parent = toParent(path)
      children.set(parent, (children.get(parent) ?? 1) - 1)
    }
  }
  return entries.sort(byPath)
}

const toParent = (path: string): string => {
  const parent = dirname(path)
  return parent === '.' ? '' : parent
}

async function sealFile(root: string, path: string, before: BigIntStats): Promise<RecordedEntry> {
  const full = join(root, path)
  const mode = (before.mode & 0o111n) === 0n ? 0o444 : 0o555
  if (before.nlink > 1n) {
    // Whoever holds the other name could still write to it.
    const copy = `${full}.pkgd-copy`
    copyFileSync(full, copy)
    renameSync(copy, full)
  }
  chmodSync(full, mode)
  const hash = await hashFile(full)
  const stats = lstatSync(full, { bigint: true })
  return { path, kind: 'file', mode, size: Number(stats.size), hash, ...toStamp(stats) }
}
