import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../../daemon/core/errors.ts'
import { loadModules } from './modules.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the error table', () => {
  const sources = loadModules(root).filter(({ path }) => !path.startsWith('test/') && path !== 'daemon/core/errors.ts')

  it.each(Object.keys(errorTable))('%s is used', (code) => {
    expect(sources.some(({ source }) => source.includes(`'${code}'`))).toBe(true)
  })

  it('is the only source of what docs/errors.md says', () => {
    const documented = [...readFileSync(join(root, 'docs/errors.md'), 'utf8').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code)
    expect(documented.toSorted()).toEqual(Object.keys(errorTable).toSorted())
  })
})
