import { execFile } from 'node:child_process'
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readLockfile } from '../../../registry/lockfile/lockfileOnDisk.ts'
import { writePackage } from './folderPackage.ts'
import { snapshotHome } from './homeSnapshot.ts'
import { jobContext, openParts, type Parts, requestOf } from './openParts.ts'

let root: string
let parts: Parts
const at = (name: string) => join(root, name)
const install = (spec: string, changes: Parameters<typeof requestOf>[1] = {}) =>
  parts.installer.install(requestOf(spec, changes), jobContext())
const uninstall = (id: string, purge = false) => parts.installer.uninstall(id, { purge }, jobContext())

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pkgd-install-'))
  parts = await openParts(at('home'), { yaml: `registries:\n  - folder: ${at('registry')}\nlimits:\n  max:\n    memory: 512MB\n` })
})
afterEach(async () => {
  await parts[Symbol.asyncDispose]()
  await rm(root, { recursive: true, force: true })
})

/** The error, and proof that nothing in the home is other than before. */
async function refused(attempt: () => Promise<unknown>) {
  await parts.store.settled()
  const before = snapshotHome(parts.home.root, parts.state)
  const error = await attempt().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  await parts.store.settled()
  expect(snapshotHome(parts.home.root, parts.state)).toEqual(before)
  return error
}

describe('installing a folder', () => {
  test('puts its files into the store, a record into the state and an entry into the lockfile, and starts nothing', async () => {
    const folder = await writePackage(at('weather'), { id: 'weather' })
    const {
      package: view,
      installed,
      unchanged,
    } = await install(folder, { args: ['--units', 'metric'], env: { A: '1' }, secrets: { KEY: 's3cret' } })
    expect({ installed, unchanged }).toEqual({ installed: ['weather'], unchanged: [] })
    expect(view.status.state).toBe('stopped')
    expect(view.record).toMatchObject({
      command: ['node', 'server.mjs', '--units', 'metric'],
      env: { A: '1' },
      secrets: ['KEY'],
      version: '1.0.0',
    })
    expect(view.record.uid).toBeGreaterThanOrEqual(200_000)
    expect(JSON.stringify(view.record)).not.toContain('s3cret')
    expect(parts.state.secrets.get('weather', 'KEY')).toBe('s3cret')
    expect(await readFile(join(parts.store.locate(view.record.tree), 'server.mjs'), 'utf8')).toBe('process.stdin.resume()\n')
    expect((await readLockfile(parts.home.lockfile)).packages.weather).toMatchObject({ version: '1.0.0', tree: view.record.tree })
  })

  test('again changes nothing, and what was given before stays', async () => {
    const folder = await writePackage(at('weather'), { id: 'weather' })
    const first = await install(folder, { args: ['x'], env: { A: '1' } })
    const second = await install(folder)
    expect(second.package.record).toMatchObject({
      tree: first.package.record.tree,
      command: first.package.record.command,
      env: { A: '1' },
      uid: first.package.record.uid,
    })
    expect(await parts.store.list()).toHaveLength(1)
  })

  test('that was changed replaces the tree, and the old one goes', async () => {
    const folder = await writePackage(at('weather'), { id: 'weather' })
    const first = await install(folder)
    await writeFile(join(folder, 'server.mjs'), '// changed\n')
    const second = await install(folder)
    expect(second.installed).toEqual(['weather'])
    expect(second.package.record.tree).not.toBe(first.package.record.tree)
    expect(second.package.record.uid).toBe(first.package.record.uid)
    expect(await parts.store.list()).toEqual([second.package.record.tree])
  })

  test('with --start starts it, and a new version runs in place of the old one', async () => {
    const folder = await writePackage(at('weather'), { id: 'weather' })
    expect((await install(folder, { start: true })).package.status.state).toBe('running')
    const before = parts.state.sandboxes.get('weather')?.handle.id
    await writePackage(folder, { id: 'weather', version: '1.1.0' })
    const { package: view } = await install(folder)
    expect(view.status.state).toBe('running')
    expect(view.sandbox?.handle.id).not.toBe(before)
    const running = [...parts.engine.sandboxes.values()].filter(({ process }) => !process.ended)
    expect(running.map(({ spec }) => [spec.identity.version, spec.tree])).toEqual([['1.1.0', view.record.tree]])
  })

  test('installs what it needs first, and two at once of the same share the work', async () => {
    await writePackage(join(at('registry'), 'data'), { id: 'market-data', version: '1.2.3' })
    const folder = await writePackage(at('stocks'), { id: 'stocks', dependencies: { extensions: { 'market-data': '^1.0.0' } } })
    const both = await Promise.all([install(folder), install(folder)])
    expect(both.map((result) => result.installed.length).sort()).toEqual([1, 2])
    expect(
      parts.state.packages
        .list()
        .map((record) => record.id)
        .sort(),
    ).toEqual(['market-data', 'stocks'])
    expect(parts.state.sagas.list()).toEqual([])
  })
})

describe('an install is refused, and nothing is changed', () => {
  test.each<[string, Parameters<typeof writePackage>[1], Parameters<typeof requestOf>[1], string]>([
    ['without consent to the network', { id: 'w', sandbox: { network: true } }, {}, 'CONSENT_REQUIRED'],
    ['above the ceiling, consent or not', { id: 'w', sandbox: { memory_limit: '1GB' } }, { consent: true }, 'LIMIT_ABOVE_CEILING'],
    ['above the ceiling by the user', { id: 'w' }, { permissions: { memoryBytes: 1024 ** 3 } }, 'LIMIT_ABOVE_CEILING'],
    [
      'for a mount nobody gave a source',
      { id: 'w', sandbox: { filesystem: { mounts: [{ name: 'docs', target: '/docs' }] } } },
      { consent: true },
      'MOUNT_REFUSED',
    ],
    [
      "for a mount of pkgd's own home",
      { id: 'w' },
      { permissions: { mounts: [{ source: '/proc', target: '/docs', readOnly: true }] } },
      'MOUNT_REFUSED',
    ],
    [
      'for an allow-list that is not enforced',
      { id: 'w', sandbox: { network: { allow: ['a.example.com:443'] } } },
      { consent: true },
      'NETWORK_UNSUPPORTED',
    ],
    ['for a runtime that is not there', { id: 'w', dependencies: { node: '>=99' } }, {}, 'RUNTIME_UNSUPPORTED'],
    ['for a git dependency', { id: 'w', dependencies: { packages: ['x@git+https://example.com/x.git'] } }, {}, 'DEPENDENCY_SOURCE'],
    [
      'for a type that is not hosted',
      { id: 'w', type: 'internal-hook', mcp: undefined, hook: { command: 'node', args: ['h.mjs'], events: ['*'] } },
      {},
      'TYPE_NOT_HOSTED',
    ],
    ['for an extension that nobody has', { id: 'w', dependencies: { extensions: { missing: '^1' } } }, {}, 'DEPENDENCY_UNSOLVABLE'],
    ['with --frozen, as it is not locked', { id: 'w' }, { frozen: true }, 'LOCKFILE_OUTDATED'],
  ])('%s', async (_name, manifest, changes, code) => {
    const folder = await writePackage(at('w'), manifest)
    expect(await refused(() => install(folder, changes))).toMatchObject({ code })
  })

  test('with --frozen by a damaged lockfile, which stays as it is', async () => {
    await writeFile(parts.home.lockfile, '{ "lockfile_version"')
    const folder = await writePackage(at('w'), { id: 'w' })
    expect(await refused(() => install(folder, { frozen: true }))).toMatchObject({ code: 'LOCKFILE_DAMAGED' })
    expect(await refused(() => parts.installer.installLocked({ consent: false, start: false }, jobContext()))).toMatchObject({
      code: 'LOCKFILE_DAMAGED',
    })
  })

  test('for a reason of its own while the lockfile is damaged, which stays as it is', async () => {
    await writeFile(parts.home.lockfile, '{ "lockfile_version"')
    const folder = await writePackage(at('w'), { id: 'w', sandbox: { network: true } })
    expect(await refused(() => install(folder))).toMatchObject({ code: 'CONSENT_REQUIRED' })
  })

  test('by its own cancellation', async () => {
    const folder = await writePackage(at('w'), { id: 'w' })
    const cancel = new AbortController()
    const reason = new Error('cancelled by the test')
    const context = { ...jobContext((stage) => stage === 'store' && cancel.abort(reason)), signal: cancel.signal }
    expect(await refused(() => parts.installer.install(requestOf(folder), context))).toBe(reason)
  })
})

describe('a lockfile that is lost', () => {
  const namesAside = async () => (await readdir(parts.home.root)).filter((name) => name.startsWith('pkgd.lock.damaged-'))

  test.each<[string, string | null, (folder: string) => Promise<unknown>]>([
    ['damaged, at an install', '{ "lockfile_version"', async (folder) => install(await writePackage(join(folder, 'more'), { id: 'more' }))],
    ['damaged, at an uninstall', '[]', () => uninstall('other')],
    ['gone, at an install', null, async (folder) => install(await writePackage(join(folder, 'more'), { id: 'more' }))],
  ])('%s, is made anew from what is installed', async (_name, content, change) => {
    await writePackage(join(at('registry'), 'data'), { id: 'market-data' })
    for (const id of ['stocks', 'other']) {
      await install(await writePackage(at(id), { id, dependencies: { extensions: { 'market-data': '*' } } }))
    }
    const { packages: before } = await readLockfile(parts.home.lockfile)
    if (content === null) await rm(parts.home.lockfile)
    else await writeFile(parts.home.lockfile, content)
    await change(root)
    const { packages: after } = await readLockfile(parts.home.lockfile)
    expect(Object.keys(after).sort()).toEqual(parts.state.packages.list().map((record) => record.id))
    for (const id of ['stocks', 'market-data']) expect(after[id]).toEqual(before[id])
    const aside = await namesAside()
    expect(await Promise.all(aside.map((name) => readFile(join(parts.home.root, name), 'utf8')))).toEqual(content === null ? [] : [content])
    expect((await parts.installer.installLocked({ consent: false, start: false }, jobContext())).map((one) => one.unchanged)).toHaveLength(
      Object.keys(after).length,
    )
  })

  test('is made anew by an install that changes nothing else', async () => {
    const archive = at('w-1.0.0.tgz')
    await promisify(execFile)('tar', ['-czf', archive, '-C', await writePackage(at('w'), { id: 'w' }), '.'])
    await install(archive)
    const before = await readLockfile(parts.home.lockfile)
    await writeFile(parts.home.lockfile, 'x')
    expect((await install(archive)).unchanged).toEqual(['w'])
    expect(await readLockfile(parts.home.lockfile)).toEqual(before)
    expect(await namesAside()).toHaveLength(1)
  })

  test('is reported where the job is followed', async () => {
    await writeFile(parts.home.lockfile, 'x')
    const stages: string[] = []
    const folder = await writePackage(at('w'), { id: 'w' })
    await parts.installer.install(
      requestOf(folder),
      jobContext((stage) => stages.push(stage)),
    )
    expect(stages).toContain('lockfile')
    expect(await namesAside()).toHaveLength(1)
  })
})

describe('uninstalling', () => {
  test('removes record, tree, secrets and entry, and keeps the data and says where', async () => {
    const folder = await writePackage(at('w'), { id: 'w', sandbox: { filesystem: true } })
    const empty = snapshotHome(parts.home.root, parts.state)
    await install(folder, { consent: true, secrets: { K: 'v' }, start: true })
    const { keptData } = await uninstall('w')
    expect(keptData).not.toBeNull()
    expect(parts.state.secrets.get('w', 'K')).toBeUndefined()
    expect([...parts.engine.sandboxes.values()].filter(({ process }) => !process.ended)).toEqual([])
    expect(await parts.driver.volumes.list()).toHaveLength(1)
    expect(await uninstall('w', true)).toEqual({ id: 'w', keptData: null })
    expect(await parts.driver.volumes.list()).toEqual([])
    await rm(parts.home.lockfile)
    await parts.store.settled()
    expect(snapshotHome(parts.home.root, parts.state)).toEqual(empty)
  })

  test('with purge removes the data too', async () => {
    const folder = await writePackage(at('w'), { id: 'w', sandbox: { filesystem: true } })
    await install(folder, { consent: true, start: true })
    expect(await uninstall('w', true)).toEqual({ id: 'w', keptData: null })
    expect(await parts.driver.volumes.list()).toEqual([])
  })

  test('what others need is refused, naming them', async () => {
    await writePackage(join(at('registry'), 'data'), { id: 'market-data' })
    await install(await writePackage(at('stocks'), { id: 'stocks', dependencies: { extensions: { 'market-data': '*' } } }))
    expect(await refused(() => uninstall('market-data'))).toMatchObject({
      code: 'DEPENDENTS_EXIST',
      message: expect.stringContaining('stocks'),
    })
    await uninstall('stocks')
    await uninstall('market-data')
    expect(await parts.store.list()).toEqual([])
  })

  test('what is not there is not found', async () => {
    expect(await refused(() => uninstall('nobody'))).toMatchObject({ code: 'PACKAGE_NOT_FOUND' })
  })
})

describe('installing from the lockfile', () => {
  test('brings back exactly what it says', async () => {
    await writePackage(join(at('registry'), 'data'), { id: 'market-data' })
    const folder = await writePackage(at('stocks'), { id: 'stocks', dependencies: { extensions: { 'market-data': '*' } } })
    await install(folder)
    const lockfile = await readFile(parts.home.lockfile, 'utf8')
    const trees = await parts.store.list()
    await uninstall('stocks')
    await uninstall('market-data')
    await writeFile(parts.home.lockfile, lockfile)
    const results = await parts.installer.installLocked({ consent: false, start: false }, jobContext())
    expect(results.flatMap((result) => result.installed)).toEqual(['market-data', 'stocks'])
    expect(await parts.store.list()).toEqual(trees)
    expect(await readFile(parts.home.lockfile, 'utf8')).toBe(lockfile)
    const again = await parts.installer.installLocked({ consent: false, start: false }, jobContext())
    expect(again.flatMap((result) => result.installed).filter((id) => id === 'market-data')).toEqual([])
  })

  test('refuses a folder that is no longer what was locked', async () => {
    const folder = await writePackage(at('w'), { id: 'w' })
    await install(folder)
    await writeFile(join(folder, 'server.mjs'), '// changed\n')
    expect(await refused(() => install(folder, { frozen: true }))).toMatchObject({ code: 'LOCKFILE_OUTDATED' })
    await access(parts.store.locate(parts.state.packages.get('w')?.tree ?? ''))
  })
})
