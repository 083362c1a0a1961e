import { hash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { open, readFile, rename } from 'node:fs/promises'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { TreeEntry } from './packageStore.ts'

/** What tells without reading a file that nobody touched it. Nanoseconds and inode as decimal strings. */
export interface TreeStamp {
  readonly inode: string
  readonly mtimeNs: string
  readonly ctimeNs: string
}

export interface RecordedEntry extends TreeEntry, TreeStamp {}

/** What is kept beside a tree. `entries` are sorted by path. */
export interface TreeRecord {
  readonly digest: string
  readonly entries: readonly RecordedEntry[]
}

export const toStamp = (stats: BigIntStats): TreeStamp => ({
  inode: String(stats.ino),
  mtimeNs: String(stats.mtimeNs),
  ctimeNs: String(stats.ctimeNs),
})

export const byPath = (left: { readonly path: string }, right: { readonly path: string }): number =>
  left.path < right.path ? -1 : left.path > right.path ? 1 : 0

/** The digest of a tree: of its sorted entries' paths, kinds, modes, sizes and content hashes, and of nothing else. */
export function toDigest(entries: readonly TreeEntry[]): string {
  const lines = entries.toSorted(byPath).map((entry) => `${JSON.stringify([entry.path, entry.kind, entry.mode, entry.size, entry.hash])}\n`)
  return `sha512-${hash('sha512', lines.join(''), 'hex')}`
}

type Row = [path: string, kind: 'file' | 'link', mode: number, size: number, hash: string, inode: string, mtimeNs: string, ctimeNs: string]

/** Writes a record by temporary file, fsync and rename. */
export async function writeTreeRecord(path: string, record: TreeRecord): Promise<void> {
  const rows = record.entries.map(
    (entry): Row => [entry.path, entry.kind, entry.mode, entry.size, entry.hash, entry.inode, entry.mtimeNs, entry.ctimeNs],
  )
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify({ format: 1, digest: record.digest, entries: rows }))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
}

/** Reads a record. One that does not add up to its own digest is TREE_CHANGED: nothing can be verified by it. */
export async function readTreeRecord(path: string, digest: string): Promise<TreeRecord> {
  const damaged = (cause: unknown) =>
    new PkgdError('TREE_CHANGED', `The record of the installed tree ${digest.slice(0, 19)}… is damaged`, {
      hint: 'install the package again',
      cause,
    })
  const text = await readFile(path, 'utf8')
  let entries: RecordedEntry[]
  try {
    entries = (JSON.parse(text) as { entries: Row[] }).entries.map((row) => ({
      path: row[0],
      kind: row[1],
      mode: row[2],
      size: row[3],
      hash: row[4],
      inode: row[5],
      mtimeNs: row[6],
      ctimeNs: row[7],
    }))
  } catch (error) {
    throw damaged(error)
  }
  if (toDigest(entries) !== digest) throw damaged(new Error('its entries do not have its digest'))
  return { digest, entries }
}
