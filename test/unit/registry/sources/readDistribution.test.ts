import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readDistribution } from '../../../../registry/fetch/pypi/readDistribution.ts'
import { readZip } from '../../../../registry/store/readZip.ts'
import { zipBytes } from './zipBytes.ts'

let scratch: string
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'pkgd-wheel-'))
})
afterEach(() => rmSync(scratch, { recursive: true }))

const write = (bytes: Buffer) => {
  const file = join(scratch, 'a.whl')
  writeFileSync(file, bytes)
  return file
}

test('what a wheel says of itself', async () => {
  const file = write(
    zipBytes({
      'my_server/__init__.py': 'x',
      'my_server-1.0.dist-info/METADATA':
        'Metadata-Version: 2.1\r\nName: my-server\r\nSummary: Tells\r\n  the time\r\nRequires-Python: >=3.10\r\n\r\nSummary: not this\r\n',
      'my_server-1.0.dist-info/entry_points.txt':
        '# comment\n[gui_scripts]\nno = a:b\n\n[console_scripts]\nmy-server = my_server.cli : main\nother=my_server:other.run [extra]\n; no\nbad line\n[x]\nno=a:b\n',
      'vendored/other-1.0.dist-info/METADATA': 'Summary: not this either',
    }),
  )
  expect(await readDistribution(file, 'a.whl')).toEqual({
    summary: 'Tells the time',
    requiresPython: '>=3.10',
    consoleScripts: { 'my-server': 'my_server.cli:main', other: 'my_server:other.run' },
  })
})

test('a wheel without console scripts, and one that is none', async () => {
  expect(await readDistribution(write(zipBytes({ 'a-1.dist-info/METADATA': 'Name: a' })), 'a.whl')).toEqual({ consoleScripts: {} })
  await expect(readDistribution(write(zipBytes({ 'a.py': '' })), 'a.whl')).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' })
})

test('a file that unpacks to more than it says, one too large, one that comes twice', async () => {
  const bomb = zipBytes({ a: 'x'.repeat(5000) })
  const lying = Buffer.from(bomb)
  lying.writeUInt32LE(10, lying.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1')) + 24)
  await expect(readZip(write(bomb), () => true, 1000)).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' })
  await expect(readZip(write(lying), () => true, 1000)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' })
  const twice = zipBytes({ a: '1', b: '2' })
  twice[twice.lastIndexOf('b')] = 'a'.charCodeAt(0)
  await expect(readZip(write(twice), () => true, 1000)).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
})

test('property: a damaged wheel is read right or refused with a code, never anything else', async () => {
  const whole = zipBytes({
    'a-1.dist-info/METADATA': 'Name: a\nSummary: b\n',
    'a-1.dist-info/entry_points.txt': '[console_scripts]\na = a:b\n',
  })
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), async (at, byte, length) => {
      const bytes = Buffer.from(whole)
      bytes[at] = byte
      const file = write(bytes.subarray(0, length))
      const error = await readDistribution(file, 'a.whl').then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      if (error) expect(error).toMatchObject({ code: expect.stringMatching(/^ARCHIVE_(DAMAGED|TOO_LARGE|UNSAFE)$/) })
    }),
    { numRuns: 300 },
  )
})
