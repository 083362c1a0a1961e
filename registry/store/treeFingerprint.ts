import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { createTimeSlices } from './timeSlices.ts'

const columns = 7

/**
 * What every change of a tree changes: a hash over each entry's path, mode, owner, size, inode, mtime and ctime. Only directories are read. Times are
 * taken as the floats that they come as (ctime to a quarter of a microsecond): with BigInt, this walk before each start would take twice as long.
 */
export async function fingerprintTree(root: string): Promise<string> {
  const slices = createTimeSlices()
  const hash = createHash('sha256').update(toRow(lstatSync(root)).join())
  const pending = [root]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    const names = readdirSync(directory)
    const table = new Float64Array(names.length * columns)
    for (let index = 0; index < names.length; index++) {
      const path = `${directory}/${names[index]}`
      const stats = lstatSync(path)
      table.set(toRow(stats), index * columns)
      if (stats.isDirectory()) pending.push(path)
      const rest = slices.rest()
      if (rest) await rest
    }
    hash.update(`${directory}\0${names.join('\0')}\0\0`).update(table)
  }
  return hash.digest('hex')
}

const toRow = ({ mode, uid, gid, size, ino, mtimeMs, ctimeMs }: Stats) => [mode, uid, gid, size, ino, mtimeMs, ctimeMs]
