import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readLockfile } from '../../../registry/lockfile/lockfileOnDisk.ts'
import { writePackage } from './folderPackage.ts'
import { snapshotHome } from './homeSnapshot.ts'
import { type Published, startNpmRegistry } from './npmRegistry.ts'
import { jobContext, openParts, requestOf } from './openParts.ts'

let root: string
const at = (name: string) => join(root, name)
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pkgd-npm-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** No registry answers behind it. */
const cutOff = { ...process.env, npm_config_https_proxy: 'http://127.0.0.1:9', npm_config_proxy: 'http://127.0.0.1:9' }

describe('the real registry', () => {
  const spec = 'npm:@modelcontextprotocol/server-everything'

  test('gives a package that runs from its tree alone, again without a network, and the very same from the lockfile', {
    timeout: 180_000,
  }, async () => {
    let tree: string
    let lockfile: string
    {
      await using parts = await openParts(at('home'))
      const { package: view } = await parts.installer.install(requestOf(spec), jobContext())
      tree = view.record.tree
      lockfile = await readFile(parts.home.lockfile, 'utf8')
      const directory = parts.store.locate(tree)
      expect((await readdir(directory)).sort()).toEqual(['node_modules', 'package.json'])
      const [, script = ''] = view.record.command
      await readFile(join(directory, script))
      await expect(readFile(join(directory, 'node_modules', '.package-lock.json'))).rejects.toThrow('ENOENT')
      const { dependencies } = (await readLockfile(parts.home.lockfile)).packages['server-everything'] ?? {}
      expect(Object.keys(dependencies ?? {}).length).toBeGreaterThan(50)
      expect(Object.values(dependencies ?? {}).every((integrity) => /^sha\d+-/.test(integrity))).toBe(true)
      await parts.installer.uninstall('server-everything', { purge: true }, jobContext())
    }
    {
      await using parts = await openParts(at('home'), { env: cutOff })
      expect((await parts.installer.install(requestOf(spec), jobContext())).package.record.tree).toBe(tree)
    }
    {
      await mkdir(at('other'))
      await writeFile(join(at('other'), 'pkgd.lock'), lockfile)
      await using parts = await openParts(at('other'))
      const { package: view } = await parts.installer.install(requestOf(spec, { frozen: true }), jobContext())
      expect(view.record.tree).toBe(tree)
      expect(await readFile(parts.home.lockfile, 'utf8')).toBe(lockfile)
    }
  })

  test('has native modules that are refused when nothing built them', { timeout: 120_000 }, async () => {
    await using parts = await openParts(at('home'))
    const folder = await writePackage(at('native'), { id: 'native', dependencies: { packages: ['cpu-features@0.0.10'] } })
    await expect(parts.installer.install(requestOf(folder), jobContext())).rejects.toMatchObject({
      code: 'DEPENDENCY_NOT_BUILT',
      message: expect.stringContaining('cpu-features@0.0.10'),
    })
    expect(await parts.store.list()).toEqual([])
  })
})

describe('a registry of packages that are', () => {
  const attempt = async (packages: readonly Published[], specs: readonly string[], changes = {}) => {
    await using registry = await startNpmRegistry(packages)
    await using parts = await openParts(at('home'), { env: registry.env })
    const folder = await writePackage(at('w'), { id: 'w', dependencies: { packages: specs } })
    const before = snapshotHome(parts.home.root, parts.state)
    try {
      const { package: view } = await parts.installer.install(requestOf(folder, changes), jobContext())
      return { view, files: await readdir(join(parts.store.locate(view.record.tree), 'node_modules')) }
    } catch (error) {
      await parts.store.settled()
      expect(snapshotHome(parts.home.root, parts.state)).toEqual(before)
      throw error
    }
  }

  test('plain, gives what is needed and nothing for development', async () => {
    const packages = [
      { name: 'a', version: '1.0.0', dependencies: { b: '^1' }, devDependencies: { c: '1' } },
      { name: 'b', version: '1.5.0', bin: 'index.js' },
      { name: 'c', version: '1.0.0' },
    ]
    const { files } = await attempt(packages, ['a@^1'])
    expect(files.sort()).toEqual(['.bin', 'a', 'b'])
  })

  test.each<[string, readonly Published[], readonly string[], string]>([
    [
      'from git underneath',
      [{ name: 'a', version: '1.0.0', dependencies: { b: 'git+https://git.example.com/b.git' } }],
      ['a'],
      'DEPENDENCY_SOURCE',
    ],
    [
      'from an address underneath',
      [{ name: 'a', version: '1.0.0', dependencies: { b: 'https://example.com/b.tgz' } }],
      ['a'],
      'DEPENDENCY_SOURCE',
    ],
    ['from a file underneath', [{ name: 'a', version: '1.0.0', dependencies: { b: 'file:/etc' } }], ['a'], 'DEPENDENCY_SOURCE'],
    ['missing', [], ['a'], 'DEPENDENCY_INSTALL_FAILED'],
    ['too old', [{ name: 'a', version: '1.0.0' }], ['a@^2'], 'DEPENDENCY_INSTALL_FAILED'],
    [
      'at odds',
      [
        { name: 'a', version: '1.0.0', peerDependencies: { b: '1' } },
        { name: 'b', version: '1.0.0' },
        { name: 'b', version: '2.0.0' },
      ],
      ['a', 'b@2'],
      'DEPENDENCY_UNSOLVABLE',
    ],
  ])('%s is refused, and nothing is changed', async (_name, packages, specs, code) => {
    await expect(attempt(packages, specs)).rejects.toMatchObject({ code })
  })

  test('out of reach and in no cache is said so', async () => {
    await using parts = await openParts(at('home'), {
      env: { ...cutOff, npm_config_registry: 'http://127.0.0.1:9/', npm_config_userconfig: '/dev/null' },
    })
    const folder = await writePackage(at('w'), { id: 'w', dependencies: { packages: ['a'] } })
    await expect(parts.installer.install(requestOf(folder), jobContext())).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE' })
  })

  test('private, is asked with the token of the user', async () => {
    await using registry = await startNpmRegistry([{ name: 'a', version: '1.0.0' }], { token: 't0ken' })
    await writeFile(at('npmrc'), `registry=${registry.url}\n//${new URL(registry.url).host}/:_authToken=t0ken\n`)
    const env = { ...registry.env, npm_config_registry: undefined, npm_config_userconfig: at('npmrc') }
    await using parts = await openParts(at('home'), { env })
    const folder = await writePackage(at('w'), { id: 'w', dependencies: { packages: ['a'] } })
    expect((await parts.installer.install(requestOf(folder), jobContext())).installed).toEqual(['w'])
  })

  test('changed since they were locked are not taken', async () => {
    const published = (version: string, extra = {}) => ({ name: 'a', version, ...extra })
    const folder = await writePackage(at('w'), { id: 'w', dependencies: { packages: ['a@^1'] } })
    {
      await using registry = await startNpmRegistry([published('1.0.0')])
      await using parts = await openParts(at('home'), { env: registry.env })
      await parts.installer.install(requestOf(folder), jobContext())
    }
    const reinstall = async (packages: readonly Published[]) => {
      await rm(at('other'), { recursive: true, force: true })
      await mkdir(at('other'))
      await cp(join(at('home'), 'pkgd.lock'), join(at('other'), 'pkgd.lock'))
      await using registry = await startNpmRegistry(packages)
      await using parts = await openParts(at('other'), { env: registry.env })
      await parts.installer.install(requestOf(folder, { frozen: true }), jobContext())
      return (await readLockfile(parts.home.lockfile)).packages.w?.dependencies
    }
    expect(Object.keys((await reinstall([published('1.0.0'), published('1.9.0')])) ?? {})).toEqual(['npm:a@1.0.0'])
    await expect(reinstall([published('1.0.0', { description: 'other bytes' })])).rejects.toMatchObject({ code: 'INTEGRITY_MISMATCH' })
    await expect(reinstall([published('1.9.0')])).rejects.toMatchObject({ code: 'LOCKFILE_OUTDATED' })
  })
})
