import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { State } from '../../../daemon/store/state.ts'

/** Caches may grow, the database is compared by what is in it, and images are the driver's. */
const ignored = /^(cache|images|run|state\.db.*|daemon\.id)$/

/** All that an install may leave in a home: every path with its content's hash, and the records. */
export function snapshotHome(root: string, state: State): unknown {
  const files: Record<string, string> = {}
  const visit = (relative: string) => {
    for (const name of readdirSync(join(root, relative)).sort()) {
      const path = join(relative, name)
      if (relative === '' && ignored.test(name)) continue
      // A note that a tree was found intact saves the next look at it; it comes and goes with looks, and means nothing without its record.
      if (relative === 'store/records' && name.endsWith('.intact')) continue
      const info = lstatSync(join(root, path))
      if (info.isDirectory()) visit(path)
      // The store stamps its records with inodes and times.
      else if (relative === 'store/records') files[path] = 'record'
      else
        files[path] = info.isFile()
          ? createHash('sha256')
              .update(readFileSync(join(root, path)))
              .digest('hex')
          : 'special'
    }
  }
  visit('')
  return { files, packages: state.packages.list(), sagas: state.sagas.list() }
}
