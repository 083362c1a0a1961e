import { randomUUID } from 'node:crypto'
import { constants, copyFileSync, mkdirSync, readdirSync, renameSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'
import { type PlannedEntry, unsafe } from './archiveEntry.ts'
import { pickEscapingLinks } from './resolveLinks.ts'

const writtenAtOnceUpTo = 256 * 1024

export interface ArchiveBudget {
  /** Called before a path is made, directories that are only implied included; may throw. */
  path(): void
  /** Called before a hard link's content is copied; may throw. */
  copy(file: string): void
}

/**
 * Writes the entries of one archive below `directory`. Nothing it does can reach outside: directories are made by itself, files are created exclusively
 * (never opened, never through a link), links come last of all and only when every one of them stays inside. A path that comes twice is ARCHIVE_UNSAFE.
 */
export function createArchiveWriter(directory: string, budget: ArchiveBudget) {
  const taken = new Map<string, 'directory' | 'file' | 'link'>([['', 'directory']])
  const links = new Map<string, string>()
  const copies = new Map<string, string>()

  const take = (path: string, kind: 'file' | 'link') => {
    if (taken.has(path)) throw unsafe(`The archive holds "${path}" more than once`)
    makeDirectory(toParent(path))
    budget.path()
    taken.set(path, kind)
  }

  const makeDirectory = (path: string) => {
    const kind = taken.get(path)
    if (kind === 'directory') return
    if (kind) throw unsafe(`The archive holds "${path}" both as a ${kind} and as a directory`)
    makeDirectory(toParent(path))
    budget.path()
    guard(path, () => mkdirSync(join(directory, path), 0o755))
    taken.set(path, 'directory')
  }

  const writeFile = async (path: string, size: number, mode: number, content: AsyncIterable<Buffer>) => {
    const full = join(directory, path)
    if (size <= writtenAtOnceUpTo) {
      const chunks: Buffer[] = []
      for await (const chunk of content) chunks.push(chunk)
      guard(path, () => writeFileSync(full, Buffer.concat(chunks), { flag: 'wx', mode }))
      return
    }
    const file = await open(full, 'wx', mode).catch((error: unknown) => {
      throw explain(path, error)
    })
    try {
      for await (const chunk of content) await file.writeFile(chunk)
    } finally {
      await file.close()
    }
  }

  return {
    async write(entry: PlannedEntry, content: AsyncIterable<Buffer>): Promise<void> {
      switch (entry.kind) {
        case 'directory':
          makeDirectory(entry.path)
          return
        case 'file':
          take(entry.path, 'file')
          return writeFile(entry.path, entry.size, entry.executable ? 0o755 : 0o644, content)
        case 'link':
          take(entry.path, 'link')
          links.set(entry.path, entry.target)
          return
        case 'copy':
          take(entry.path, 'file')
          copies.set(entry.path, entry.from)
          return
      }
    },

    /** Writes what had to wait, and takes away the single folder that everything is in, where there is one (`package/`). */
    finish(): void {
      for (const [path, from] of copies) {
        if (taken.get(from) !== 'file' || copies.has(from)) {
          throw unsafe(`The archive's hard link "${path}" points to "${from}", which is no file of it`)
        }
        budget.copy(join(directory, from))
        guard(path, () => copyFileSync(join(directory, from), join(directory, path), constants.COPYFILE_EXCL))
      }
      const wrapper = pickWrapper(taken)
      if (wrapper !== undefined) unwrap(directory, wrapper)
      const inner = new Map([...links].map(([path, target]) => [wrapper === undefined ? path : path.slice(wrapper.length + 1), target]))
      const [escaping] = pickEscapingLinks(inner)
      if (escaping !== undefined) throw unsafe(`The archive's link "${escaping}" points out of it, to "${inner.get(escaping)}"`)
      for (const [path, target] of inner) guard(path, () => symlinkSync(target, join(directory, path)))
    },
  }
}

const toParent = (path: string): string => {
  const parent = dirname(path)
  return parent === '.' ? '' : parent
}

function guard(path: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw explain(path, error)
  }
}

/** A name that exists though the archive did not have it before differs from another only for us, not for this filesystem. */
function explain(path: string, error: unknown): unknown {
  if (hasCode(error, 'EEXIST')) return unsafe(`The archive holds "${path}" under two names that are one on this filesystem`, error)
  if (hasCode(error, 'ENAMETOOLONG')) return unsafe(`The archive holds a path that is too long ("${path.slice(0, 64)}…")`, error)
  return error
}

/** The folder at the top that holds everything, or undefined. */
function pickWrapper(taken: ReadonlyMap<string, string>): string | undefined {
  const top = [...taken.keys()].filter((path) => path !== '' && !path.includes('/'))
  const [only] = top
  return top.length === 1 && only !== undefined && taken.get(only) === 'directory' ? only : undefined
}

/** Moves what is in a folder one level up. The folder is renamed first: it may hold an entry of its own name. */
function unwrap(directory: string, wrapper: string): void {
  const aside = join(directory, randomUUID())
  renameSync(join(directory, wrapper), aside)
  for (const name of readdirSync(aside)) renameSync(join(aside, name), join(directory, name))
  rmdirSync(aside)
}
