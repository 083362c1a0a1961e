import { execFileSync } from 'node:child_process'
import { statfsSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toPkgdError } from '../../../daemon/core/errors.ts'
import { writePackage } from './folderPackage.ts'
import { snapshotHome } from './homeSnapshot.ts'
import { jobContext, openParts, requestOf } from './openParts.ts'

const MB = 1024 ** 2
const isRoot = process.getuid?.() === 0

/** The code that a job would show, or `done`. */
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => toPkgdError(error).code,
  )

let root: string
let disk: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pkgd-full-'))
  disk = join(root, 'disk')
  await mkdir(disk)
  if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'tmpfs', disk])
})
afterEach(async () => {
  if (isRoot) execFileSync('umount', ['-l', disk])
  await rm(root, { recursive: true, force: true })
})

// A small disk can only be mounted by root.
describe.runIf(isRoot)('a disk that is full (made by root, who may mount one)', () => {
  test.each([12, 4, 1])('with %d MB left for 14 MB of files is said so, and everything is undone', async (left) => {
    await using parts = await openParts(join(disk, 'home'))
    const small = await writePackage(join(root, 'small'), { id: 'small' })
    await parts.installer.install(requestOf(small), jobContext())
    const before = snapshotHome(parts.home.root, parts.state)
    const folder = await writePackage(join(root, 'big'), { id: 'big' }, { 'server.mjs': 'x'.repeat(14 * MB) })
    const free = () => statfsSync(disk).bavail * statfsSync(disk).bsize
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(free() - left * MB))
    await expect(codeOf(parts.installer.install(requestOf(folder), jobContext()))).resolves.toBe('DISK_FULL')
    await parts.store.settled()
    expect(snapshotHome(parts.home.root, parts.state)).toEqual(before)
    await rm(join(disk, 'ballast'))
    expect((await parts.installer.install(requestOf(folder), jobContext())).installed).toEqual(['big'])
  })

  test('while npm works is said so, and everything is undone', { timeout: 120_000 }, async () => {
    await using parts = await openParts(join(disk, 'home'))
    const before = snapshotHome(parts.home.root, parts.state)
    await expect(codeOf(parts.installer.install(requestOf('npm:@modelcontextprotocol/server-everything'), jobContext()))).resolves.toBe(
      'DISK_FULL',
    )
    await parts.store.settled()
    expect(snapshotHome(parts.home.root, parts.state)).toEqual(before)
  })

  test('to its last byte is no reason to lose anything: an undo needs no space', async () => {
    await using parts = await openParts(join(disk, 'home'))
    const folder = await writePackage(join(root, 'w'), { id: 'w' }, { 'server.mjs': 'x'.repeat(MB) })
    await parts.installer.install(requestOf(folder), jobContext())
    const before = snapshotHome(parts.home.root, parts.state)
    const free = () => statfsSync(disk).bavail * statfsSync(disk).bsize
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(free()))
    const outcome = await codeOf(parts.installer.uninstall('w', { purge: true }, jobContext()))
    // Either there was room in the files that are there already, or it is said and nothing is changed.
    if (outcome === 'done') expect(parts.state.packages.list()).toEqual([])
    else {
      expect(outcome).toBe('DISK_FULL')
      await parts.store.settled()
      expect(snapshotHome(parts.home.root, parts.state)).toEqual(before)
    }
  })
})
