import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openConnection } from '../../../../daemon/store/database.ts'

test('a disk that is full is DISK_FULL, what was begun is undone, and the database goes on', () => {
  const root = mkdtempSync(join(tmpdir(), 'pkgd-full-'))
  try {
    using database = openConnection(join(root, 'x.db'))
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (v TEXT)')
    database.run('INSERT INTO t VALUES (?)', 'before')
    // As many pages as there are: SQLite's own way of having no more room.
    const { page_count: pages } = database.get('PRAGMA page_count') ?? {}
    database.exec(`PRAGMA max_page_count = ${pages}`)
    const fill = () =>
      database.transaction(() => {
        database.run('INSERT INTO t VALUES (?)', 'small')
        database.run('INSERT INTO t VALUES (?)', 'x'.repeat(100_000))
      })
    expect(fill).toThrow(expect.objectContaining({ code: 'DISK_FULL' }))
    expect(database.all('SELECT v FROM t')).toEqual([{ v: 'before' }])
    database.exec('PRAGMA max_page_count = 10000')
    fill()
    expect(database.all('SELECT v FROM t')).toHaveLength(3)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
