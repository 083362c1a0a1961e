import { existsSync, lstatSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import { compareTree } from './compareTree.ts'
import { flush, flushTree } from './flushTree.ts'
import type { PackageStore, Staging } from './packageStore.ts'
import { removeTree } from './removeTree.ts'
import { sealTree } from './sealTree.ts'
import { fingerprintTree } from './treeFingerprint.ts'
import { type RecordedEntry, readTreeRecord, toDigest, writeTreeRecord } from './treeRecord.ts'

const digestForm = /^sha512-[0-9a-f]{128}$/

/**
 * The store in one directory: `<digest>/` holds a tree, `records/<digest>.json` what was recorded of it (`.intact`: as it was last found so), `staging/` what is being filled or torn down.
 * A tree is in the store once its record is: the record's rename is the last step of a commit and its removal the first of a removal,
 * so a death at any point leaves either all of it or leftovers that `sweep` finds.
 */
export function createPackageStore(deps: { readonly directory: string }): PackageStore {
  const { directory } = deps
  const records = join(directory, 'records')
  const stagings = join(directory, 'staging')
  const live = new Set<string>()
  const turns = new Map<string, Promise<unknown>>()
  const teardowns = new Set<Promise<void>>()

  const locate = (digest: string) => {
    if (!digestForm.test(digest)) throw new PkgdError('INTERNAL', `"${digest}" is not the digest of a tree`)
    return join(directory, digest)
  }
  const locateRecord = (digest: string) => join(records, `${digest}.json`)
  /** The fingerprint of the tree and of its record as they were when they were last found to agree: while they still have it, they need no comparison. */
  const locateFingerprint = (digest: string) => join(records, `${digest}.intact`)
  const has = (digest: string) => digestForm.test(digest) && existsSync(locateRecord(digest)) && existsSync(locate(digest))

  /** One change of a digest at a time. */
  const inTurn = <T>(digest: string, change: () => Promise<T>): Promise<T> => {
    const turn = (turns.get(digest) ?? Promise.resolve()).then(change, change)
    const settled = turn.catch(() => undefined).finally(() => turns.get(digest) === settled && turns.delete(digest))
    turns.set(digest, settled)
    return turn
  }

  const createStagingDirectory = async () => {
    await mkdir(stagings, { recursive: true, mode: 0o700 })
    await mkdir(records, { recursive: true, mode: 0o700 })
    const created = await mkdtemp(join(stagings, 's-'))
    live.add(basename(created))
    return created
  }
  const dropStagingDirectory = async (path: string) => {
    await removeTree(path)
    live.delete(basename(path))
  }

  /** Thousands of files take seconds: nobody waits for those of a tree that is out of its place. What cannot be removed now is left to a sweep. */
  const tearDown = (path: string): void => {
    live.add(basename(path))
    const teardown = removeTree(path)
      .catch(() => undefined)
      .finally(() => {
        live.delete(basename(path))
        teardowns.delete(teardown)
      })
    teardowns.add(teardown)
  }

  /** Takes a tree out of its place at once; the caller tears down what it gets. */
  const displace = async (digest: string): Promise<string | undefined> => {
    await rm(locateFingerprint(digest), { force: true })
    await rm(locateRecord(digest), { force: true })
    const tree = locate(digest)
    if (!existsSync(tree)) return undefined
    const aside = await createStagingDirectory()
    await chmod(tree, 0o755)
    await rename(tree, join(aside, 'tree'))
    return aside
  }

  const readIntact = async (digest: string) => {
    try {
      return await readFile(locateFingerprint(digest), 'utf8')
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  }

  const verify: PackageStore['verify'] = async (digest, depth) => {
    if (!has(digest)) return [{ path: '.', problem: 'missing' }]
    const { ino, size, mtimeNs, ctimeNs } = lstatSync(locateRecord(digest), { bigint: true })
    // Taken before the comparison: what changes in between, or later, has another one.
    const fingerprint = [ino, size, mtimeNs, ctimeNs, await fingerprintTree(locate(digest))].join(' ')
    if (depth === 'quick' && (await readIntact(digest)) === fingerprint) return []
    await rm(locateFingerprint(digest), { force: true })
    const record = await readTreeRecord(locateRecord(digest), digest)
    const { differences, restamped } = await compareTree(locate(digest), record, depth)
    if (differences.length > 0) return [...differences]
    if (restamped) await writeTreeRecord(locateRecord(digest), { digest, entries: restamped })
    else await writeFile(locateFingerprint(digest), fingerprint, { mode: 0o600 })
    return []
  }

  const isIntact = async (digest: string) => {
    try {
      return has(digest) && (await verify(digest, 'quick')).length === 0
    } catch (error) {
      if (hasCode(error, 'TREE_CHANGED')) return false
      throw error
    }
  }

  const putInPlace = async (staged: string, digest: string, entries: readonly RecordedEntry[]) => {
    const damaged = await displace(digest)
    try {
      await rename(staged, locate(digest))
      await chmod(locate(digest), 0o555)
      await flush(directory)
      await writeTreeRecord(locateRecord(digest), { digest, entries })
      await flush(records)
      live.delete(basename(staged))
    } finally {
      if (damaged) tearDown(damaged)
    }
  }

  const stage = async (): Promise<Staging> => {
    const staged = await createStagingDirectory()
    let done = false
    const discard = async () => {
      if (done) return
      done = true
      await dropStagingDirectory(staged)
    }
    return {
      directory: staged,
      async commit() {
        if (done) throw new PkgdError('INTERNAL', 'The staging was committed or discarded before')
        const entries = await sealTree(staged)
        const paths = entries.filter((entry) => entry.kind === 'file').map((entry) => entry.path)
        const digest = toDigest(entries)
        await inTurn(digest, async () => {
          if (await isIntact(digest)) return
          await flushTree(staged, paths)
          await putInPlace(staged, digest, entries)
          done = true
          // So that its first start finds it known.
          await isIntact(digest)
        })
        await discard()
        return { digest, bytes: entries.reduce((sum, entry) => sum + entry.size, 0), files: entries.length }
      },
      discard,
    }
  }

  const namesIn = async (path: string): Promise<string[]> => {
    try {
      return (await readdir(path)).sort()
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return []
      throw error
    }
  }

  const remove = (digest: string) =>
    inTurn(digest, async () => {
      const aside = await displace(digest)
      if (aside) tearDown(aside)
    })

  const list = async () => (await namesIn(directory)).filter(has)

  return {
    stage,
    has: async (digest) => has(digest),
    locate,
    verify,
    remove,
    list,
    async sweep(keep) {
      const removed: string[] = []
      for (const name of await namesIn(stagings)) {
        if (live.has(name)) continue
        tearDown(join(stagings, name))
        removed.push(`staging/${name}`)
      }
      for (const name of await namesIn(records)) {
        const digest = name.split('.')[0] ?? ''
        if (turns.has(digest) || (has(digest) && [locateRecord(digest), locateFingerprint(digest)].includes(join(records, name)))) continue
        await rm(join(records, name), { force: true })
        removed.push(`records/${name}`)
      }
      for (const name of await namesIn(directory)) {
        if (!digestForm.test(name) || (keep.has(name) && has(name))) continue
        await remove(name)
        removed.push(name)
      }
      return removed
    },
    async settled() {
      while (teardowns.size > 0) await Promise.all(teardowns)
    },
  }
}
