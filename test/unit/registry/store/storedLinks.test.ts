import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
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

const stagings = () => readdirSync(join(scratch, 'store/staging'))

test('a hard link to a file outside is broken: the other name no longer reaches the store', async () => {
  const outside = join(scratch, 'outside')
  writeFileSync(outside, 'one', { mode: 0o644 })
  const staging = await store.stage()
  linkSync(outside, join(staging.directory, 'a'))
  const { digest } = await staging.commit()
  writeFileSync(outside, 'two')
  expect(readFileSync(join(store.locate(digest), 'a'), 'utf8')).toBe('one')
  expect(lstatSync(outside).mode & 0o777).toBe(0o644)
  expect(await store.verify(digest, 'full')).toEqual([])
})

test.each([
  ['an absolute link', '/etc/passwd'],
  ['a link out', '../outside'],
  ['a link out by way of the tree', 'lib/../../outside'],
  ['a link out by way of another link', 'up/../outside'],
  ['a link to itself', 'bad'],
])('%s is refused, and the staging can be discarded', async (_, target) => {
  const staging = await store.stage()
  fill(staging, { 'lib/deep/a': '1' })
  symlinkSync('.', join(staging.directory, 'up'))
  symlinkSync(target, join(staging.directory, 'bad'))
  await expect(staging.commit()).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE', message: expect.stringContaining('"bad"') })
  await staging.discard()
  expect(stagings()).toEqual([])
  expect(await store.list()).toEqual([])
})

test('links that stay inside are kept as they are', async () => {
  const staging = await store.stage()
  fill(staging, { 'lib/a.js': '1' })
  mkdirSync(join(staging.directory, 'node_modules/.bin'), { recursive: true })
  symlinkSync('../../lib/a.js', join(staging.directory, 'node_modules/.bin/a'))
  symlinkSync('nowhere', join(staging.directory, 'dangling'))
  const { digest, files } = await staging.commit()
  expect(files).toBe(3)
  expect(readFileSync(join(store.locate(digest), 'node_modules/.bin/a'), 'utf8')).toBe('1')
  expect(await store.verify(digest, 'full')).toEqual([])
})

test('a socket is refused', async () => {
  const staging = await store.stage()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(staging.directory, 's'), resolve))
  await expect(staging.commit()).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
  await new Promise((resolve) => server.close(resolve))
  await staging.discard()
})

test('what is not a digest is never a path', async () => {
  expect(await store.has('../..')).toBe(false)
  expect(() => store.locate('sha512-../../x')).toThrow('not the digest')
  await rm(join(scratch, 'store'), { recursive: true, force: true })
  expect(await store.list()).toEqual([])
  expect(await store.sweep(new Set())).toEqual([])
})
