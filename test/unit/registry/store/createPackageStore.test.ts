import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPackageStore } from '../../../../registry/store/createPackageStore.ts'
import type { PackageStore, Staging } from '../../../../registry/store/packageStore.ts'
import { removeTree } from '../../../../registry/store/removeTree.ts'

let scratch: string
let store: PackageStore

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'pkgd-store-'))
  store = createPackageStore({ directory: join(scratch, 'store') })
})
afterEach(() => removeTree(scratch))

const fill = (staging: Staging, files: Record<string, string>) => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(staging.directory, path, '..'), { recursive: true })
    writeFileSync(join(staging.directory, path), content)
  }
}

const commit = async (files: Record<string, string>) => {
  const staging = await store.stage()
  fill(staging, files)
  return staging.commit()
}

const stagings = () => readdirSync(join(scratch, 'store/staging'))

test('a committed tree is found under its digest, read-only, with what it holds', async () => {
  const staging = await store.stage()
  fill(staging, { 'package.json': '{}', 'bin/run': '#!/bin/sh\n' })
  chmodSync(join(staging.directory, 'bin/run'), 0o4700)
  const { digest, bytes, files } = await staging.commit()

  expect(digest).toMatch(/^sha512-[0-9a-f]{128}$/)
  expect({ bytes, files }).toEqual({ bytes: 12, files: 2 })
  const tree = store.locate(digest)
  const modes = ['', 'bin', 'bin/run', 'package.json'].map((path) => (lstatSync(join(tree, path)).mode & 0o7777).toString(8))
  expect(modes).toEqual(['555', '555', '555', '444'])
  expect(await store.has(digest)).toBe(true)
  expect(await store.list()).toEqual([digest])
  expect(stagings()).toEqual([])
  expect(await store.verify(digest, 'quick')).toEqual([])
  expect(await store.verify(digest, 'full')).toEqual([])
})

test('the digest follows from content, paths and the executable bit, and from nothing else', async () => {
  const first = await commit({ a: '1', 'b/c': '2' })
  const staging = await store.stage()
  fill(staging, { 'b/c': '2', a: '1' })
  mkdirSync(join(staging.directory, 'empty/deeper'), { recursive: true })
  chmodSync(join(staging.directory, 'a'), 0o600)
  utimesSync(join(staging.directory, 'a'), 1, 1)
  expect((await staging.commit()).digest).toBe(first.digest)

  const executable = await store.stage()
  fill(executable, { 'b/c': '2', a: '1' })
  chmodSync(join(executable.directory, 'a'), 0o700)
  const others = [
    (await executable.commit()).digest,
    (await commit({ a: '1', 'b/d': '2' })).digest,
    (await commit({ a: '2', 'b/c': '2' })).digest,
    (await commit({ a: '1' })).digest,
  ]
  expect(new Set([first.digest, ...others]).size).toBe(5)
})

test('the same content committed many times at once is one tree', async () => {
  const content = { 'package.json': '{}', 'lib/index.js': 'x'.repeat(3_000_000) }
  const results = await Promise.all(Array.from({ length: 6 }, () => commit(content)))
  expect(new Set(results.map((result) => result.digest)).size).toBe(1)
  expect(await store.list()).toHaveLength(1)
  expect(stagings()).toEqual([])
  expect(await store.verify(results[0]?.digest ?? '', 'full')).toEqual([])
})

test('a discarded staging leaves nothing, and a commit happens once', async () => {
  const staging = await store.stage()
  fill(staging, { a: '1' })
  await staging.discard()
  await staging.discard()
  expect(stagings()).toEqual([])
  await expect(staging.commit()).rejects.toMatchObject({ code: 'INTERNAL' })
  expect(await store.list()).toEqual([])
})

/** A tree that was found intact before, by this process or a former one, is compared in another way. */
const histories = [{ before: 'never compared' }, { before: 'found intact' }]
const remember = async (before: string, digest: string) => {
  if (before === 'never compared') rmSync(join(scratch, 'store/records', `${digest}.intact`))
  else expect(await createPackageStore({ directory: join(scratch, 'store') }).verify(digest, 'quick')).toEqual([])
}

test.each(histories)('every kind of change is seen by the quick comparison too, $before before', async ({ before }) => {
  const { digest } = await commit({ same: '1', grown: '1', edited: '1', gone: '1', 'lib/deep.js': '1' })
  await remember(before, digest)
  const at = (path: string) => join(store.locate(digest), path)
  for (const path of ['', 'lib']) chmodSync(at(path), 0o755)
  for (const path of ['grown', 'edited']) chmodSync(at(path), 0o644)
  writeFileSync(at('grown'), '12')
  writeFileSync(at('edited'), '2')
  rmSync(at('gone'))
  writeFileSync(at('lib/new.js'), '')
  for (const path of ['grown', 'edited']) chmodSync(at(path), 0o444)
  chmodSync(at('lib'), 0o555)

  const expected = [
    { path: '.', problem: 'changed' },
    { path: 'edited', problem: 'changed' },
    { path: 'gone', problem: 'missing' },
    { path: 'grown', problem: 'changed' },
    { path: 'lib/new.js', problem: 'added' },
  ]
  expect(await store.verify(digest, 'quick')).toEqual(expected)
  expect(await store.verify(digest, 'full')).toEqual(expected)
})

test.each(histories)(
  'a file with the old size and time but other content is seen, and so is a link in its place, $before before',
  async ({ before }) => {
    const { digest } = await commit({ a: 'one', b: 'two' })
    await remember(before, digest)
    const tree = store.locate(digest)
    const { atime, mtime } = lstatSync(join(tree, 'a'))
    chmodSync(tree, 0o755)
    chmodSync(join(tree, 'a'), 0o644)
    writeFileSync(join(tree, 'a'), 'eno')
    utimesSync(join(tree, 'a'), atime, mtime)
    chmodSync(join(tree, 'a'), 0o444)
    rmSync(join(tree, 'b'))
    symlinkSync('a', join(tree, 'b'))
    chmodSync(tree, 0o555)
    expect(await store.verify(digest, 'quick')).toEqual([
      { path: 'a', problem: 'changed' },
      { path: 'b', problem: 'changed' },
    ])
  },
)

test('a file that was only touched is intact, and is not hashed again afterwards', async () => {
  const { digest } = await commit({ a: '1', b: '2' })
  const record = join(scratch, 'store/records', `${digest}.json`)
  const before = readFileSync(record, 'utf8')
  utimesSync(join(store.locate(digest), 'a'), 5, 5)
  expect(await store.verify(digest, 'quick')).toEqual([])
  expect(readFileSync(record, 'utf8')).not.toBe(before)
  const after = lstatSync(record, { bigint: true }).mtimeNs
  expect(await store.verify(digest, 'quick')).toEqual([])
  expect(lstatSync(record, { bigint: true }).mtimeNs).toBe(after)
})

test.each(histories)('a damaged record is a change: nothing can be verified by it, $before before', async ({ before }) => {
  const { digest } = await commit({ a: '1' })
  await remember(before, digest)
  const record = join(scratch, 'store/records', `${digest}.json`)
  writeFileSync(record, readFileSync(record, 'utf8').replace('"a"', '"b"'))
  await expect(store.verify(digest, 'quick')).rejects.toMatchObject({ code: 'TREE_CHANGED' })
  writeFileSync(record, '{"format":1,')
  await expect(store.verify(digest, 'quick')).rejects.toMatchObject({ code: 'TREE_CHANGED' })
})

test.runIf(process.getuid?.() === 0)("files of another user become this one's, and a file given away later is a change", async () => {
  const staging = await store.stage()
  fill(staging, { a: '1' })
  chownSync(join(staging.directory, 'a'), 200_001, 200_001)
  const { digest } = await staging.commit()
  expect(lstatSync(join(store.locate(digest), 'a')).uid).toBe(0)
  chownSync(join(store.locate(digest), 'a'), 200_001, 200_001)
  expect(await store.verify(digest, 'quick')).toEqual([{ path: 'a', problem: 'changed' }])
})

test('committing the same content again repairs a damaged tree', async () => {
  const { digest } = await commit({ a: '1', b: '2' })
  chmodSync(store.locate(digest), 0o755)
  rmSync(join(store.locate(digest), 'a'))
  expect((await commit({ a: '1', b: '2' })).digest).toBe(digest)
  expect(await store.verify(digest, 'full')).toEqual([])
  await store.settled()
  expect(stagings()).toEqual([])
})

test('what a death between the two renames leaves is not in the store, and the next commit or sweep deals with it', async () => {
  const { digest } = await commit({ a: '1' })
  const record = join(scratch, 'store/records', `${digest}.json`)
  rmSync(record)
  expect(await store.has(digest)).toBe(false)
  expect(await store.list()).toEqual([])
  expect((await commit({ a: '1' })).digest).toBe(digest)
  expect(await store.verify(digest, 'full')).toEqual([])

  renameSync(record, `${record}.new`)
  expect(await store.sweep(new Set([digest]))).toEqual([`records/${digest}.intact`, `records/${digest}.json.new`, digest])
  expect(existsSync(store.locate(digest))).toBe(false)
})

test('sweep removes what nobody keeps and the stagings of the dead, not those of the living', async () => {
  const kept = await commit({ a: '1' })
  const dropped = await commit({ a: '2' })
  mkdirSync(join(scratch, 'store/staging/s-dead/deep'), { recursive: true })
  chmodSync(join(scratch, 'store/staging/s-dead'), 0o555)
  const living = await store.stage()
  fill(living, { a: '3' })
  expect(await store.sweep(new Set([kept.digest]))).toEqual(['staging/s-dead', dropped.digest])
  expect(await store.list()).toEqual([kept.digest])
  const { digest } = await living.commit()
  expect(await store.list()).toEqual([kept.digest, digest].sort())
  await store.settled()
  expect(stagings()).toEqual([])
})

test('remove is done when the tree is out of its place; its files go while nobody waits', async () => {
  const files = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`deep/${n % 50}/${n}`, `${n}`]))
  const { digest } = await commit(files)
  await store.remove(digest)
  expect([await store.has(digest), existsSync(store.locate(digest))]).toEqual([false, false])
  // What is being torn down is none of a sweep's business.
  expect(await store.sweep(new Set())).toEqual([])
  const again = await commit(files)
  expect(again.digest).toBe(digest)
  await store.settled()
  expect(stagings()).toEqual([])
  expect(await store.verify(digest, 'full')).toEqual([])
})

test('remove takes the tree and its record, and twice is fine', async () => {
  const { digest } = await commit({ 'a/b/c': '1' })
  await store.remove(digest)
  await store.remove(digest)
  expect(await store.has(digest)).toBe(false)
  expect(readdirSync(join(scratch, 'store/records'))).toEqual([])
  expect(await store.verify(digest, 'quick')).toEqual([{ path: '.', problem: 'missing' }])
})
