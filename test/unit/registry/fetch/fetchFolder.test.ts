import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fetchFolder } from '../../../../registry/fetch/fetchFolder.ts'

let scratch: string
let source: string
let target: string

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'pkgd-folder-'))
  source = join(scratch, 'source')
  target = join(scratch, 'target')
  mkdirSync(target)
})
afterEach(() => rmSync(scratch, { recursive: true }))

const put = (path: string, content = '') => {
  mkdirSync(join(source, path, '..'), { recursive: true })
  writeFileSync(join(source, path), content)
}
const fetch = (limits = { archiveBytes: 1000, archiveEntries: 20 }, signal = new AbortController().signal) =>
  fetchFolder(source, target, limits, { signal, progress: () => undefined })

test('everything that belongs to the package is copied, nothing that does not', async () => {
  for (const path of [
    'package.json',
    'lib/a.js',
    '.env.example',
    '.git/config',
    'node_modules/x/index.js',
    'lib/__pycache__/a.pyc',
    'env/pyvenv.cfg',
    'env/bin/x',
  ])
    put(path)
  symlinkSync('../package.json', join(source, 'lib/link'))
  await fetch()
  expect(readdirSync(target, { recursive: true }).sort()).toEqual(['.env.example', 'lib', 'lib/a.js', 'lib/link', 'package.json'])
  expect(readlinkSync(join(target, 'lib/link'))).toBe('../package.json')
})

test.each(['/etc/passwd', '../outside', 'node_modules/../../outside'])('a link to %s is refused', async (to) => {
  put('package.json')
  symlinkSync(to, join(source, 'link'))
  await expect(fetch()).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE', message: expect.stringContaining('"link"') })
})

test('what is neither file, folder nor link is refused', async () => {
  put('package.json')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(source, 'socket'), resolve))
  await expect(fetch()).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE', message: expect.stringContaining('"socket"') })
  await new Promise((resolve) => server.close(resolve))
})

test('a folder that holds too much is refused', async () => {
  for (let index = 0; index < 25; index++) put(`f${index}`)
  await expect(fetch()).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE', message: expect.stringContaining('20 entries') })
  rmSync(source, { recursive: true })
  put('large', 'x'.repeat(1001))
  await expect(fetch()).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE', message: expect.stringContaining('1000 bytes') })
})

test('no such folder; a file in its place; a cancelled copy', async () => {
  await expect(fetch()).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
  writeFileSync(source, '')
  await expect(fetch()).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
  rmSync(source)
  put('a')
  await expect(fetch(undefined, AbortSignal.abort())).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
})
