import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findUnbuilt } from '../../../../../daemon/install/dependencies/npm/findUnbuilt.ts'
import { createLockedPackuments } from '../../../../../daemon/install/dependencies/npm/lockedPackuments.ts'
import { toNpmError } from '../../../../../daemon/install/dependencies/npm/toNpmError.ts'
import { toProject } from '../../../../../daemon/install/dependencies/npm/toProject.ts'

describe('the generated project', () => {
  test('has each spec as a dependency, sorted', () => {
    expect(toProject(['zod@^4', '@a/b@1.0.0', 'plain', 'tagged@next'])).toEqual({
      private: true,
      dependencies: { '@a/b': '1.0.0', plain: '*', tagged: 'next', zod: '^4' },
    })
  })
  test('refuses a name that stands twice, and a spec without one', () => {
    expect(() => toProject(['zod@3', 'zod@4'])).toThrow(expect.objectContaining({ code: 'MANIFEST_INVALID' }))
    expect(() => toProject(['https://example.com/x.tgz'])).toThrow(expect.objectContaining({ code: 'DEPENDENCY_SOURCE' }))
  })
})

describe('locked versions', () => {
  const packument = () => ({
    name: 'zod',
    'dist-tags': { latest: '4.1.0', old: '3.0.0' },
    versions: Object.fromEntries(
      ['3.0.0', '4.0.0', '4.1.0'].map((version) => [
        version,
        { name: 'zod', version, dist: { tarball: 't', integrity: `sha512-${version}` } },
      ]),
    ),
  })
  test('are all that the solver can see, with the integrity that was locked', () => {
    const seen = packument()
    createLockedPackuments({ 'zod@4.0.0': 'sha512-locked', 'zod@3.0.0': 'sha512-3', 'other@4.1.0': 'x' }).set('key', seen as never)
    expect(Object.entries(seen.versions).map(([version, { dist }]) => [version, dist.integrity])).toEqual([
      ['3.0.0', 'sha512-3'],
      ['4.0.0', 'sha512-locked'],
    ])
    expect(seen['dist-tags']).toEqual({ old: '3.0.0' })
  })
})

describe('a native module', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'pkgd-native-'))
  })
  afterEach(() => rm(root, { recursive: true }))

  const gyp = 'it has a binding.gyp and no prebuilt binary'
  test.each<[string, Record<string, unknown>, string[], string[], string | undefined]>([
    ['none at all', { scripts: { postinstall: 'echo thanks' } }, [], [], undefined],
    ['not built', {}, ['binding.gyp'], [], gyp],
    [
      'not built by its script',
      { scripts: { install: 'prebuild-install || node-gyp rebuild' } },
      [],
      [],
      'its install script ("prebuild-install || node-gyp rebuild") was not run and it has no prebuilt binary',
    ],
    [
      'with prebuilt binaries',
      { scripts: { install: 'node-gyp-build' } },
      ['binding.gyp', 'prebuilds/linux-x64/node.napi.node'],
      [],
      undefined,
    ],
    ['that was built before it was published', {}, ['binding.gyp', 'build/Release/addon.node'], [], undefined],
    [
      'with a package for the platform',
      { scripts: { install: 'napi build' }, optionalDependencies: { '@x/linux-x64-gnu': '1' } },
      [],
      ['@x/linux-x64-gnu'],
      undefined,
    ],
    [
      'whose package for the platform is missing',
      { scripts: { install: 'napi build' }, optionalDependencies: { '@x/linux-x64-gnu': '1' } },
      [],
      [],
      'its install script ("napi build") was not run and it has no prebuilt binary',
    ],
  ])('%s', async (_name, manifest, files, installed, reason) => {
    for (const file of files) {
      await mkdir(dirname(join(root, file)), { recursive: true })
      await writeFile(join(root, file), '')
    }
    expect(findUnbuilt({ directory: root, manifest, installed: new Set(installed) })).toBe(reason)
  })
})

test.each([
  ['EALLOWGIT', false, 'DEPENDENCY_SOURCE'],
  ['EALLOWREMOTE', false, 'DEPENDENCY_SOURCE'],
  ['ENOTFOUND', false, 'REGISTRY_UNREACHABLE'],
  ['ETARGET', false, 'DEPENDENCY_INSTALL_FAILED'],
  ['ETARGET', true, 'LOCKFILE_OUTDATED'],
  ['ERESOLVE', false, 'DEPENDENCY_UNSOLVABLE'],
  ['EINTEGRITY', false, 'INTEGRITY_MISMATCH'],
  ['ENOSPC', false, 'DISK_FULL'],
  ['EWHATEVER', false, 'DEPENDENCY_INSTALL_FAILED'],
] as const)("npm's %s (locked: %s) is %s", (code, locked, expected) => {
  expect(toNpmError({ kind: 'failed', code, message: 'm', package: 'zod@4' }, 'weather', locked).code).toBe(expected)
})
