import { createHash } from 'node:crypto'
import {
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ExtractRequest, extractArchive } from '../../../../registry/store/extractArchive.ts'
import { paxPath, type RawEntry, tarBytes } from './tarBytes.ts'

let scratch: string
let target: string

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'pkgd-extract-'))
  target = join(scratch, 'around/target')
  mkdirSync(target, { recursive: true })
})
afterEach(() => rm(scratch, { recursive: true, force: true }))

const limits = { archiveBytes: 64 * 1024 * 1024, archiveEntries: 1000 }

const extract = (archive: Buffer, options: Partial<ExtractRequest> = {}) => {
  const file = join(scratch, 'archive.tgz')
  writeFileSync(file, archive)
  return extractArchive({ archive: file, directory: target, limits, integrity: null, name: 'archive.tgz', ...options })
}

const sri = (algorithm: string, bytes: Buffer) => `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`

/** Everything outside of the target, which no archive may change. */
const outside = () => [...readdirSync(scratch), ...readdirSync(join(scratch, 'around'))].sort()

const packed = (...entries: RawEntry[]) => gzipSync(tarBytes(entries))

test('an npm tarball is unpacked without its package folder, with content, executable bits and links', async () => {
  const archive = packed(
    { path: 'package/package.json', body: '{}' },
    { path: 'package/bin/run', body: '#!/bin/sh\n', mode: 0o755 },
    { path: 'package/empty', body: '' },
    { path: 'package/lib/', type: '5' },
    { path: 'package/lib/large', body: 'x'.repeat(900_000) },
    { path: 'package/lib/link', type: '2', link: '../bin/run' },
    { path: 'package/hard', type: '1', link: 'package/bin/run' },
    { ...paxPath(`package/lib/${'long/'.repeat(30)}ü.js`) },
    { path: 'short', body: 'long' },
  )
  const { integrity, entries, bytes } = await extract(archive)
  expect(integrity).toBe(sri('sha512', archive))
  expect(entries).toBe(8)
  expect(bytes).toBe(900_026)
  expect(readdirSync(target).sort()).toEqual(['bin', 'empty', 'hard', 'lib', 'package.json'])
  expect(statSync(join(target, 'bin/run')).mode & 0o111).toBe(0o111)
  expect(statSync(join(target, 'package.json')).mode & 0o111).toBe(0)
  expect(readlinkSync(join(target, 'lib/link'))).toBe('../bin/run')
  expect(readFileSync(join(target, 'hard'), 'utf8')).toBe('#!/bin/sh\n')
  expect(lstatSync(join(target, 'hard')).nlink).toBe(1)
  expect(statSync(join(target, 'lib/large')).size).toBe(900_000)
  expect(readFileSync(join(target, 'lib', 'long/'.repeat(30), 'ü.js'), 'utf8')).toBe('long')
})

test('a plain tar, and one without a folder around everything, stay as they are', async () => {
  await extract(
    tarBytes([
      { path: './package.json', body: '{}' },
      { path: 'package/x', body: '1' },
    ]),
  )
  expect(readdirSync(target).sort()).toEqual(['package', 'package.json'])
})

test('a folder that holds an entry of its own name is unwrapped', async () => {
  await extract(packed({ path: 'a/a/a', body: '1' }, { path: 'a/b', body: '2' }))
  expect(readFileSync(join(target, 'a/a'), 'utf8')).toBe('1')
})

const file = (path: string): RawEntry => ({ path, body: 'bad' })
const hostile: [string, RawEntry[]][] = [
  ['..', [file('package/../../evil')]],
  ['.. at the end', [{ path: 'package/..', type: '5' }]],
  ['.. in a pax header', [paxPath('../evil'), file('fine')]],
  ['an absolute path', [file('/tmp/evil')]],
  ['an absolute path in a pax header', [paxPath('/tmp/evil'), file('fine')]],
  ['a drive letter', [file('c:/evil')]],
  ['a backslash', [file('package\\..\\evil')]],
  ['a link to an absolute path', [{ path: 'package/l', type: '2', link: '/etc/passwd' }]],
  ['a link out', [{ path: 'package/l', type: '2', link: '../../evil' }, file('package/x')]],
  ['a link out of the folder that is taken away', [{ path: 'package/l', type: '2', link: '../package/x' }, file('package/x')]],
  ['a file through a link', [{ path: 'package/l', type: '2', link: '..' }, file('package/l/evil')]],
  ['a file over a link', [{ path: 'package/l', type: '2', link: 'x' }, file('package/l')]],
  ['a link over a file', [file('package/l'), { path: 'package/l', type: '2', link: 'x' }]],
  [
    'a chain of links out',
    [{ path: 'package/a', type: '2', link: '.' }, { path: 'package/b', type: '2', link: 'a/..' }, file('package/x')],
  ],
  ['a hard link out', [file('package/x'), { path: 'package/l', type: '1', link: '../evil' }]],
  ['a hard link to an absolute path', [file('package/x'), { path: 'package/l', type: '1', link: '/etc/passwd' }]],
  ['a hard link to what is not in it', [file('package/x'), { path: 'package/l', type: '1', link: 'package/y' }]],
  [
    'a hard link to a link',
    [
      { path: 'package/s', type: '2', link: 'x' },
      { path: 'package/l', type: '1', link: 'package/s' },
    ],
  ],
  ['a character device', [{ path: 'package/null', type: '3' }]],
  ['a block device', [{ path: 'package/disk', type: '4' }]],
  ['a fifo', [{ path: 'package/fifo', type: '6' }]],
  ['a sparse file', [{ path: 'package/sparse', type: 'S' }]],
  ['an unknown type', [{ path: 'package/what', type: 'Z' }]],
  ['a duplicate', [file('package/x'), file('package/x')]],
  ['a duplicate by another spelling', [file('package/x'), file('./package//x')]],
  ['a file that is a directory too', [file('package/x'), file('package/x/y')]],
  ['a directory that is a file too', [file('package/x/y'), file('package/x')]],
  ['a name that is too long', [paxPath(`package/${'n'.repeat(300)}`), file('x')]],
]

test.each(hostile)('%s is refused as unsafe, whole', async (_, entries) => {
  const before = outside()
  await expect(extract(packed(file('package/first'), ...entries))).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
  expect(readdirSync(target)).toEqual([])
  expect(outside()).toEqual([...before, 'archive.tgz'].sort())
})

const good = tarBytes([
  { path: 'package/a', body: 'x'.repeat(5000) },
  { path: 'package/b', body: 'y'.repeat(5000) },
])
const damaged: [string, Buffer][] = [
  ['nothing', Buffer.alloc(0)],
  ['no entries', Buffer.alloc(1024)],
  ['text', Buffer.from('<html>not found</html>'.repeat(100))],
  ['a zip file', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(2000)])],
  ['gzip cut off', gzipSync(good).subarray(0, 60)],
  ['gzip with a wrong checksum', Buffer.concat([gzipSync(good).subarray(0, -8), Buffer.alloc(8)])],
  ['gzip within gzip', gzipSync(gzipSync(good, { level: 0 }))],
  ['tar cut off in a body', good.subarray(0, 3000)],
  ['tar cut off in a header', good.subarray(0, 700)],
  ['tar cut off between entries', good.subarray(0, 512 + 5120)],
  [
    'a header with a wrong checksum',
    tarBytes([
      { path: 'package/a', body: '1' },
      { path: 'package/b', checksum: 1 },
    ]),
  ],
]

test.each(damaged)('%s is refused as damaged, whole', async (_, archive) => {
  await expect(extract(archive)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' })
  expect(readdirSync(target)).toEqual([])
})

test('more bytes than allowed are refused by what the header announces, before they come', async () => {
  const archive = tarBytes([
    { path: 'package/a', body: '1' },
    { path: 'package/huge', size: 10 * 1024 ** 3, body: 'x' },
  ])
  await expect(extract(archive)).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE', message: expect.stringContaining('67108864 bytes') })
  expect(readdirSync(target)).toEqual([])
})

test('10 GB of zeros behind honest and dishonest headers never reach the disk', async () => {
  const zeros = Buffer.alloc(1024 * 1024)
  // Behind the honest one's end marker nothing is read as an entry, but it may not go on for ever either.
  const archives: RawEntry[][] = [[{ path: 'package/zeros', size: 10 * 1024 ** 3 }], [{ path: 'package/a', body: '1' }]]
  for (const entries of archives) {
    const file = join(scratch, 'bomb.tgz')
    const source = async function* () {
      yield tarBytes(entries, { end: false })
      for (let index = 0; index < 200; index++) yield zeros
    }
    await pipeline(Readable.from(source()), createGzip({ level: 1 }), createWriteStream(file))
    const small = { ...limits, archiveBytes: 1024 * 1024 }
    const attempt = extractArchive({ archive: file, directory: target, limits: small, integrity: null, name: 'bomb' })
    await expect(attempt).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' })
    expect(readdirSync(target)).toEqual([])
  }
})

test('hard links cannot multiply one file past the limit', async () => {
  const links = Array.from({ length: 100 }, (_, index): RawEntry => ({ path: `package/l${index}`, type: '1', link: 'package/a' }))
  const archive = packed({ path: 'package/a', body: 'x'.repeat(1024 * 1024) }, ...links)
  await expect(extract(archive)).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' })
  expect(readdirSync(target)).toEqual([])
})

test.each([
  ['files', Array.from({ length: 1100 }, (_, index) => file(`package/${index}`))],
  [
    'directories that are only implied',
    Array.from({ length: 12 }, (_, index) => [paxPath(`package/${index}/${'d/'.repeat(100)}x`), file('x')]).flat(),
  ],
  ['the same directory', Array.from({ length: 1100 }, (): RawEntry => ({ path: 'package/', type: '5' }))],
])('more entries than allowed are refused: %s', async (_, entries) => {
  await expect(extract(packed(...entries))).rejects.toMatchObject({
    code: 'ARCHIVE_TOO_LARGE',
    message: expect.stringContaining('1000 entries'),
  })
  expect(readdirSync(target)).toEqual([])
})

test('integrity: any of the three algorithms passes, a wrong or useless one is refused and leaves nothing', async () => {
  const archive = gzipSync(good)
  for (const algorithm of ['sha256', 'sha384', 'sha512']) {
    await extract(archive, { integrity: sri(algorithm, archive) })
    for (const name of readdirSync(target)) await rm(join(target, name), { recursive: true })
  }
  const wrong = sri('sha512', Buffer.from('other'))
  for (const integrity of [wrong, `${sri('sha256', archive)} ${wrong}`, 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=', 'nonsense', 'sha512-abc']) {
    await expect(extract(archive, { integrity })).rejects.toMatchObject({ code: 'INTEGRITY_MISMATCH' })
    expect(readdirSync(target)).toEqual([])
  }
  await expect(extract(archive, { integrity: `${wrong} ${sri('sha512', archive)}` })).resolves.toMatchObject({ entries: 2 })
})

test('a cancelled extraction leaves nothing', async () => {
  const attempt = extract(gzipSync(good), { signal: AbortSignal.abort() })
  await expect(attempt).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
  expect(readdirSync(target)).toEqual([])
})

test('property: whatever bytes come, it ends with the package or with a coded error and an empty folder, and writes nothing elsewhere', async () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/', '..', '../', '\\', 'ü', ' '), maxLength: 12 })
  const entry = fc.record(
    {
      path: name,
      type: fc.constantFrom('0', '1', '2', '5', 'x', 'g', 'L', '3', ''),
      link: name,
      body: fc.string({ maxLength: 700 }),
      size: fc.nat(2000),
    },
    { requiredKeys: ['path', 'type'] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 8 }), fc.nat(600), fc.boolean(), async (entries, cut, zipped) => {
      const bytes = tarBytes(entries)
      const damagedBytes = cut > 500 ? bytes.subarray(0, bytes.length - cut) : bytes
      writeFileSync(join(scratch, 'archive.tgz'), '')
      const before = outside()
      const error = await extract(zipped ? gzipSync(damagedBytes) : damagedBytes).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      if (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^ARCHIVE_(UNSAFE|TOO_LARGE|DAMAGED)$/) })
        expect(readdirSync(target)).toEqual([])
      }
      expect(outside()).toEqual(before)
      for (const made of readdirSync(target)) await rm(join(target, made), { recursive: true })
    }),
    { numRuns: 400 },
  )
  expect(existsSync(target)).toBe(true)
})
