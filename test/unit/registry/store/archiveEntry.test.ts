import { expect, test } from 'vitest'
import { type ArchiveHeader, type PlannedEntry, planArchiveEntry } from '../../../../registry/store/archiveEntry.ts'

const header = (fields: Partial<ArchiveHeader>): ArchiveHeader => ({ type: 'File', path: 'a', size: 0, ...fields })

test.each<[Partial<ArchiveHeader>, PlannedEntry]>([
  [
    { path: './a//b/./c', size: 3 },
    { kind: 'file', path: 'a/b/c', size: 3, executable: false },
  ],
  [
    { path: 'a', mode: 0o4711 },
    { kind: 'file', path: 'a', size: 0, executable: true },
  ],
  [{ path: 'a..b/...' }, { kind: 'file', path: 'a..b/...', size: 0, executable: false }],
  [
    { type: 'Directory', path: './' },
    { kind: 'directory', path: '' },
  ],
  [
    { type: 'SymbolicLink', linkpath: '../b' },
    { kind: 'link', path: 'a', target: '../b' },
  ],
  [
    { type: 'Link', linkpath: './b' },
    { kind: 'copy', path: 'a', from: 'b' },
  ],
])('%o becomes %o', (fields, expected) => {
  expect(planArchiveEntry(header(fields))).toEqual(expected)
})

test.each<Partial<ArchiveHeader>>([
  { path: 'a\0b' },
  { path: '' },
  { path: './' },
  { path: '//a' },
  { path: 'C:\\a' },
  { path: 'a/..' },
  { path: `${'a/'.repeat(3000)}b` },
  { path: 'ü'.repeat(128) },
  { type: 'SymbolicLink', linkpath: '' },
  { type: 'SymbolicLink', linkpath: 'a\0' },
  { type: 'Link', linkpath: '../b' },
  { type: 'GNUDumpDir' },
])('%o is unsafe', (fields) => {
  expect(() => planArchiveEntry(header(fields))).toThrow(expect.objectContaining({ code: 'ARCHIVE_UNSAFE' }))
})
