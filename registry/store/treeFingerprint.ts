import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { walkTree } from './walkTree.ts'

/** What every change of a tree changes: a hash over each entry's path, mode, owner, size, inode, mtime and ctime. Nothing is read but the directories. */
export interface TreeFingerprint {
  add(path: string, stats: BigIntStats): void
  digest(): string
}

export function createTreeFingerprint(): TreeFingerprint {
  const hash = createHash('sha256')
  let lines = ''
  return {
    add(path, { mode, uid, size, ino, mtimeNs, ctimeNs }) {
      lines += `${path}\0${mode} ${uid} ${size} ${ino} ${mtimeNs} ${ctimeNs}\n`
      if (lines.length < 16_384) return
      hash.update(lines)
      lines = ''
    },
    digest: () => hash.update(lines).digest('hex'),
  }
}

export async function fingerprintTree(root: string): Promise<string> {
  const fingerprint = createTreeFingerprint()
  await walkTree(root, { directory: fingerprint.add, entry: fingerprint.add })
  return fingerprint.digest()
}
