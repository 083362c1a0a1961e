import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createTimeSlices } from './timeSlices.ts'

export interface TreeVisitor {
  /** A directory, before it is read; the root is ''. */
  directory(path: string, stats: BigIntStats): void
  /** Anything else. Links are not followed. */
  entry(path: string, stats: BigIntStats): void
}

/** Visits everything under `root`, parents first, names in code unit order. Paths are relative, with `/`. */
export async function walkTree(root: string, visitor: TreeVisitor): Promise<void> {
  const slices = createTimeSlices()
  const pending = ['']
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    const place = join(root, directory)
    visitor.directory(directory, lstatSync(place, { bigint: true }))
    const below: string[] = []
    for (const name of readdirSync(place).sort()) {
      const path = directory === '' ? name : `${directory}/${name}`
      const stats = lstatSync(`${place}/${name}`, { bigint: true })
      if (stats.isDirectory()) below.push(path)
      else visitor.entry(path, stats)
      const rest = slices.rest()
      if (rest) await rest
    }
    pending.push(...below.reverse())
  }
}
