import { describe, expect, test } from 'vitest'
import { merge } from '../../../../../daemon/install/commit/commitChange.ts'
import { orderLocked } from '../../../../../daemon/install/plan/planLocked.ts'
import { checkLocked } from '../../../../../daemon/install/plan/toLockedSource.ts'
import { toValues } from '../../../../../daemon/install/plan/toValues.ts'
import { fromLocked, toLocked } from '../../../../../daemon/install/stage/lockedDependencies.ts'
import type { LockedPackage, Lockfile } from '../../../../../registry/lockfile/lockfile.ts'
import { manifestOf, recordOf } from '../manifestFixture.ts'

const locked = (extensions: Record<string, string> = {}): LockedPackage => ({
  version: '1.0.0',
  resolution: { kind: 'archive', path: '/a.tgz', integrity: 'sha512-a' },
  tree: `sha512-${'0'.repeat(128)}`,
  dependencies: {},
  extensions,
})
const lockfile = (packages: Record<string, LockedPackage>): Lockfile => ({ lockfileVersion: 1, packages })

describe('the order of a lockfile', () => {
  test('has what is needed before who needs it', () => {
    expect(orderLocked(lockfile({ a: locked({ c: '*', b: '*' }), b: locked({ c: '*' }), c: locked(), d: locked() }), ['a'])).toEqual([
      'c',
      'b',
      'a',
    ])
  })
  test('names a circle as a path', () => {
    expect(() => orderLocked(lockfile({ a: locked({ b: '*' }), b: locked({ a: '*' }) }), ['a'])).toThrow(
      expect.objectContaining({ code: 'DEPENDENCY_CYCLE', message: 'pkgd.lock has a circle: a -> b -> a' }),
    )
  })
  test('names who needs what is not there', () => {
    expect(() => orderLocked(lockfile({ a: locked({ b: '*' }) }), ['a'])).toThrow(
      expect.objectContaining({ code: 'LOCKFILE_OUTDATED', message: 'a needs b, which is not in pkgd.lock' }),
    )
  })
})

describe('a source that is installed from the lockfile', () => {
  const candidate = (integrity: string, changes = {}) => ({
    resolution: { kind: 'archive' as const, path: '/a.tgz', integrity },
    manifest: manifestOf(changes),
    manifestOrigin: 'file' as const,
    layout: 'files' as const,
  })
  test('is what was locked', () => {
    expect(() => checkLocked('weather', candidate('sha512-a'), locked())).not.toThrow()
  })
  test.each([
    ['another version', candidate('sha512-a', { version: '1.0.1' }), 'LOCKFILE_OUTDATED'],
    ['another package', candidate('sha512-a', { id: 'other' }), 'LOCKFILE_OUTDATED'],
    ['other content', candidate('sha512-b'), 'INTEGRITY_MISMATCH'],
    ['another need', candidate('sha512-a', { dependencies: { pypi: [], npm: [], extensions: { x: '^1' } } }), 'LOCKFILE_OUTDATED'],
  ])('is refused with %s', (_name, found, code) => {
    expect(() => checkLocked('weather', found, locked())).toThrow(expect.objectContaining({ code }))
  })
})

describe('values of a package', () => {
  const former = recordOf(manifestOf(), { command: ['node', 'server.mjs', '/docs'], env: { A: '1', B: '1' } })
  const nothing = { args: [], env: {}, secrets: {} }
  test('that are not given stay as they were', () => {
    expect(toValues(manifestOf(), nothing, former)).toEqual({
      command: ['node', 'server.mjs', '/docs'],
      env: { A: '1', B: '1' },
      secrets: {},
    })
  })
  test('that are given go before', () => {
    expect(toValues(manifestOf(), { args: ['/x'], env: { B: '2' }, secrets: { A: 's' } }, former)).toEqual({
      command: ['node', 'server.mjs', '/x'],
      env: { B: '2' },
      secrets: { A: 's' },
    })
  })
})

test('both kinds of locked dependency keep apart', () => {
  const both = { npm: { 'zod@4.0.0': 'sha512-z' }, pypi: { 'httpx@0.28.1': 'sha256-h' } }
  expect(toLocked(both)).toEqual({ 'npm:zod@4.0.0': 'sha512-z', 'pypi:httpx@0.28.1': 'sha256-h' })
  expect(fromLocked(toLocked(both))).toEqual(both)
})

test('a change of the lockfile touches what it names', () => {
  const before = lockfile({ a: locked(), b: locked() })
  expect(Object.keys(merge(before, { a: null, c: locked() }).packages)).toEqual(['b', 'c'])
})
