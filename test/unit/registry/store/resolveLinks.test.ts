import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pickEscapingLinks } from '../../../../registry/store/resolveLinks.ts'

const step = fc.constantFrom('a', 'b', 'c', 'd', '..', '.', '')
const target = fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => steps.join('/') || '.')

test('agrees with the kernel: a link that resolves to a place outside is always found', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'x/c', 'x/y/d', 'x/a'), target, { minKeys: 1 }), (links) => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), 'pkgd-links-')))
      try {
        const tree = join(root, 'in/tree')
        mkdirSync(join(tree, 'x/y'), { recursive: true })
        for (const [path, to] of Object.entries(links)) symlinkSync(to, join(tree, path))
        const escaping = new Set(pickEscapingLinks(new Map(Object.entries(links))))
        for (const path of Object.keys(links)) {
          if (escaping.has(path)) continue
          const real = tryRealpath(join(tree, path))
          if (real !== undefined) expect(real === tree || real.startsWith(`${tree}/`), `${path} of ${JSON.stringify(links)}`).toBe(true)
        }
        expect(lstatSync(tree).isDirectory()).toBe(true)
      } finally {
        rmSync(root, { recursive: true })
      }
    }),
    { numRuns: 300 },
  )
})

function tryRealpath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined // to nothing, or a loop
  }
}
