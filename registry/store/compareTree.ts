import { type BigIntStats, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { hashFile, hashText } from './hashFile.ts'
import type { TreeDifference } from './packageStore.ts'
import { byPath, type RecordedEntry, type TreeRecord, toStamp } from './treeRecord.ts'
import { walkTree } from './walkTree.ts'

export interface Comparison {
  readonly differences: readonly TreeDifference[]
  /** The same entries with the stamps they have now, where some were only touched; undefined where none was. */
  readonly restamped: readonly RecordedEntry[] | undefined
}

/**
 * Compares a tree with its record. `quick` reads only the files whose size, mode, inode, mtime or ctime is another than recorded; `full` reads all.
 * A directory that can be written to, or anything that belongs to neither root nor this process, is a change.
 */
export async function compareTree(root: string, record: TreeRecord, depth: 'quick' | 'full'): Promise<Comparison> {
  const expected = new Map(record.entries.map((entry) => [entry.path, entry]))
  const differences: TreeDifference[] = []
  const suspects: { entry: RecordedEntry; stats: BigIntStats }[] = []
  const owners = new Set([0n, BigInt(process.getuid?.() ?? 0)])

  await walkTree(root, {
    directory(path, stats) {
      if ((stats.mode & 0o222n) !== 0n || !owners.has(stats.uid)) differences.push({ path: path || '.', problem: 'changed' })
    },
    entry(path, stats) {
      const entry = expected.get(path)
      expected.delete(path)
      if (!entry) differences.push({ path, problem: 'added' })
      else if (!hasShape(entry, stats) || !owners.has(stats.uid)) differences.push({ path, problem: 'changed' })
      else if (depth === 'full' || !hasStamp(entry, stats)) suspects.push({ entry, stats })
    },
  })
  for (const path of expected.keys()) differences.push({ path, problem: 'missing' })

  const restamped = new Map<string, RecordedEntry>()
  for (const { entry, stats } of suspects) {
    const full = join(root, entry.path)
    const hash = entry.kind === 'link' ? hashText(readlinkSync(full)) : await hashFile(full)
    if (hash !== entry.hash) differences.push({ path: entry.path, problem: 'changed' })
    else if (!hasStamp(entry, stats)) restamped.set(entry.path, { ...entry, ...toStamp(stats) })
  }
  return {
    differences: differences.sort(byPath),
    restamped: restamped.size === 0 ? undefined : record.entries.map((entry) => restamped.get(entry.path) ?? entry),
  }
}

const hasShape = (entry: RecordedEntry, stats: BigIntStats): boolean =>
  entry.kind === 'link'
    ? stats.isSymbolicLink()
    : stats.isFile() && BigInt(entry.size) === stats.size && BigInt(entry.mode) === (stats.mode & 0o7777n)

const hasStamp = (entry: RecordedEntry, stats: BigIntStats): boolean =>
  entry.inode === String(stats.ino) && entry.mtimeNs === String(stats.mtimeNs) && entry.ctimeNs === String(stats.ctimeNs)
