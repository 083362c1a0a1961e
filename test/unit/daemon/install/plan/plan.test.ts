import { describe, expect, test } from 'vitest'
import { merge } from '../../../../../daemon/install/commit/commitChange.ts'
import { listKept } from '../../../../../daemon/install/plan/listKept.ts'
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
  const former = recordOf(manifestOf(), { command: ['node', 'server.mjs', '/docs'], env: { A: '1', B: '1' }, secrets: ['K', 'L'] })
  const nothing = { args: [], env: {}, secrets: {} }
  test('that are not given stay as they were', () => {
    expect(toValues(manifestOf(), nothing, former)).toEqual({
      command: ['node', 'server.mjs', '/docs'],
      env: { A: '1', B: '1' },
      secrets: {},
      secretNames: ['K', 'L'],
    })
  })
  test('that are given go before', () => {
    expect(toValues(manifestOf(), { args: ['/x'], env: { B: '2' }, secrets: { A: 's' } }, former)).toEqual({
      command: ['node', 'server.mjs', '/x'],
      env: { B: '2' },
      secrets: { A: 's' },
      secretNames: ['A', 'K', 'L'],
    })
  })
  test.each<[string, object, object]>([
    ['a value', { env: { A: null } }, { env: { B: '1' }, secretNames: ['K', 'L'] }],
    ['a secret, under either head', { env: { K: null }, secrets: { L: null } }, { env: { A: '1', B: '1' }, secretNames: [] }],
    ['a secret that is now in the open', { env: { K: 'open' } }, { env: { A: '1', B: '1', K: 'open' }, secretNames: ['L'] }],
    ['nothing by an empty value', { env: { A: '' } }, { env: { A: '', B: '1' }, secretNames: ['K', 'L'] }],
  ])('take away %s', (_name, given, expected) => {
    expect(toValues(manifestOf(), { ...nothing, ...given }, former)).toMatchObject({ ...expected, secrets: {} })
    expect(Object.keys(toValues(manifestOf(), { ...nothing, ...given }, former).env).sort()).toEqual(
      Object.keys((expected as { env: object }).env).sort(),
    )
  })
  test('that are kept are listed, without what they are', () => {
    const inherited = {
      ...former,
      grants: { ...former.grants, network: { mode: 'internet' as const }, mounts: [{ source: '/a', target: '/docs', readOnly: true }] },
    }
    const kept = (changes: object) => {
      const request = { ...nothing, permissions: {}, ...changes }
      return listKept(manifestOf(), request, { inherited, values: toValues(manifestOf(), request, inherited), grants: inherited.grants })
    }
    expect(kept({})).toEqual([
      'arguments /docs',
      'env A',
      'env B',
      'secret K',
      'secret L',
      'mount /a:/docs:ro',
      'network the public internet',
    ])
    expect(
      kept({
        args: ['x'],
        env: { A: '2', K: null },
        secrets: { B: 's', L: 's' },
        permissions: { mounts: inherited.grants.mounts, network: { mode: 'internet' } },
      }),
    ).toEqual([])
    const request = { ...nothing, permissions: {} }
    expect(
      listKept(manifestOf(), request, {
        inherited: undefined,
        values: toValues(manifestOf(), request, undefined),
        grants: inherited.grants,
      }),
    ).toEqual([])
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
