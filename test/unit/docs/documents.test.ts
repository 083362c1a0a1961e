import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../../../daemon/core/errors.ts'
import { documents } from '../../docs/documents.ts'

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')

describe('the generated documents', () => {
  it.each(documents)('$path is up to date (npm run docs)', async ({ path, render }) => expect(await read(path)).toBe(await render()))
})

describe('docs/errors.md', () => {
  const documented = async () => {
    const sections = (await read('docs/errors.md')).split(/^## /m).slice(1)
    return sections.flatMap((section) => {
      const exit = Number(/^Exit (\d+)/.exec(section)?.[1])
      return [...section.matchAll(/^\| `([A-Z_]+)` \| (.+) \| (\d{3}) \| (yes|no) \|$/gm)].map(([, code, title, status, retry]) => ({
        code,
        row: { status: Number(status), exit, retryable: retry === 'yes', title },
      }))
    })
  }

  it('has a row for each code, once, that says what the table says', async () => {
    const rows = await documented()
    expect(Object.fromEntries(rows.map(({ code, row }) => [code, row]))).toEqual(errorTable)
    expect(rows.length).toBe(Object.keys(errorTable).length)
  })

  it('has titles that tell the codes apart', () => {
    const titles = Object.values(errorTable).map((row) => row.title)
    expect(new Set(titles).size).toBe(titles.length)
  })

  it('speaks of statuses and exit codes that exist', () => {
    for (const row of Object.values(errorTable)) {
      expect(row.status).toBeGreaterThanOrEqual(400)
      expect(row.status).toBeLessThan(600)
      expect([1, 2, 3, 4, 5, 6, 7, 8, 130]).toContain(row.exit)
    }
  })
})
