import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pruneFolder } from '../../../../registry/fetch/http/pruneFolder.ts'

test('the files that were not used for longest go until the rest fits; what is young stays whatever its size', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pkgd-prune-'))
  try {
    const now = 10_000_000_000
    const put = (name: string, size: number, hoursAgo: number) => {
      writeFileSync(join(directory, name), 'x'.repeat(size))
      utimesSync(join(directory, name), now / 1000 - hoursAgo * 3600, now / 1000 - hoursAgo * 3600)
    }
    mkdirSync(join(directory, 'folder'))
    put('oldest', 10, 9)
    put('older', 10, 5)
    put('old', 10, 3)
    put('young', 100, 0.5)
    await pruneFolder(directory, 1000, now)
    expect(readdirSync(directory)).toHaveLength(5)
    await pruneFolder(directory, 115, now)
    expect(readdirSync(directory)).toEqual(['folder', 'old', 'young'])
    await pruneFolder(directory, 1, now)
    expect(readdirSync(directory)).toEqual(['folder', 'young'])
  } finally {
    rmSync(directory, { recursive: true })
  }
})
