import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PkgdError } from '../../../daemon/core/errors.ts'
import { writePackage } from './folderPackage.ts'
import { jobContext, openParts, type Parts, requestOf } from './openParts.ts'

let root: string
let parts: Parts
const at = (name: string) => join(root, name)
const install = (spec: string, changes: Parameters<typeof requestOf>[1] = {}) =>
  parts.installer.install(requestOf(spec, changes), jobContext())
const refused = (attempt: Promise<unknown>) =>
  attempt.then(
    () => undefined,
    (error: PkgdError) => error,
  )

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pkgd-take-over-'))
  parts = await openParts(at('home'), { yaml: `registries:\n  - folder: ${at('registry')}\n` })
  await mkdir(at('docs'))
})
afterEach(async () => {
  await parts[Symbol.asyncDispose]()
  await rm(root, { recursive: true, force: true })
})

const trusted = {
  args: ['--all'],
  env: { A: '1' },
  secrets: { KEY: 's3cret', OTHER: 'too' },
  permissions: { network: { mode: 'internet' as const }, filesystem: true, memoryBytes: 300 * 1024 ** 2 },
}
const mounts = () => [{ source: at('docs'), target: '/docs', readOnly: true }]
const installTrusted = async () => {
  const folder = await writePackage(at('weather'), { id: 'weather', sandbox: { network: true, filesystem: true } })
  await install(folder, { ...trusted, permissions: { ...trusted.permissions, mounts: mounts() } })
  return folder
}

test('another package of the same id needs consent, even where it asks for nothing', async () => {
  const folder = await installTrusted()
  const before = parts.state.packages.get('weather')
  const other = await writePackage(at('elsewhere'), { id: 'weather', version: '2.0.0' })
  const error = await refused(install(other))
  expect(error).toMatchObject({ code: 'CONSENT_REQUIRED', hint: expect.stringContaining('--yes') })
  expect(error?.issues).toMatchObject([{ message: expect.stringContaining(`this replaces weather from ${folder}`), rule: 'source' }])
  expect(parts.state.packages.get('weather')).toEqual(before)
  expect(parts.state.secrets.get('weather', 'KEY')).toBe('s3cret')
})

test('and with consent has nothing of what the other was trusted with', async () => {
  await installTrusted()
  const other = await writePackage(at('elsewhere'), { id: 'weather', version: '2.0.0' })
  const { package: view, kept } = await install(other, { consent: true, secrets: { OTHER: 'mine' } })
  expect(kept).toEqual([])
  expect(view.record).toMatchObject({
    command: ['node', 'server.mjs'],
    env: {},
    secrets: ['OTHER'],
    grants: { network: { mode: 'none' }, data: false, mounts: [], limits: { memoryBytes: 256 * 1024 ** 2 } },
  })
  expect(parts.state.secrets.get('weather', 'KEY')).toBeUndefined()
  expect(parts.state.secrets.get('weather', 'OTHER')).toBe('mine')
})

test('what it asks is asked anew, though the other one had it', async () => {
  await installTrusted()
  const other = await writePackage(at('elsewhere'), { id: 'weather', sandbox: { network: true, filesystem: true } })
  const error = await refused(install(other))
  expect(error?.issues.map(({ rule }) => rule)).toEqual(['source', 'network', 'data'])
  expect(error?.issues[0]?.message).toContain('finds its /data')
})

test('a package that is needed is asked about too', async () => {
  await install(await writePackage(at('data'), { id: 'market-data' }))
  await writePackage(at('registry/market-data'), { id: 'market-data', version: '2.0.0' })
  const stocks = await writePackage(at('stocks'), { id: 'stocks', dependencies: { extensions: { 'market-data': '^2.0.0' } } })
  expect((await refused(install(stocks)))?.issues).toMatchObject([
    { message: expect.stringContaining(`this replaces market-data from ${at('data')}`) },
  ])
  expect((await install(stocks, { consent: true })).installed).toEqual(['market-data', 'stocks'])
})

test('the same id of the same registry is no other package, wherever in it it lies', async () => {
  await writePackage(at('registry/weather/1.0.0'), { id: 'weather' })
  await install('weather', { env: { A: '1' } })
  await writePackage(at('registry/weather/1.1.0'), { id: 'weather', version: '1.1.0' })
  const { package: view, kept } = await install('weather@^1.1.0')
  expect(view.record).toMatchObject({ version: '1.1.0', env: { A: '1' } })
  expect(kept).toEqual(['env A'])
})

test('a new version says what it kept, and what a request names takes the place of what was', async () => {
  const folder = await installTrusted()
  expect((await install(folder)).kept).toEqual([
    'arguments --all',
    'env A',
    'secret KEY',
    'secret OTHER',
    `mount ${at('docs')}:/docs:ro`,
    'memory 300MB',
  ])
  const { package: view, kept } = await install(folder, {
    args: ['--less'],
    env: { A: null, KEY: null },
    permissions: { mounts: [], memoryBytes: 256 * 1024 ** 2 },
  })
  expect(kept).toEqual(['secret OTHER'])
  expect(view.record).toMatchObject({ command: ['node', 'server.mjs', '--less'], env: {}, secrets: ['OTHER'], grants: { mounts: [] } })
  expect(parts.state.secrets.get('weather', 'KEY')).toBeUndefined()
  expect(parts.state.secrets.get('weather', 'OTHER')).toBe('too')
})

test('a mount whose source is gone says how to go on without it', async () => {
  const folder = await installTrusted()
  await rm(at('docs'), { recursive: true })
  expect(await refused(install(folder))).toMatchObject({ code: 'MOUNT_REFUSED', hint: expect.stringContaining('--mount none') })
  expect((await install(folder, { permissions: { mounts: [] } })).package.record.grants.mounts).toEqual([])
})

test('data that an uninstalled package left is said before another one finds it', async () => {
  const folder = await writePackage(at('weather'), { id: 'weather', sandbox: { filesystem: true } })
  await install(folder, { consent: true, start: true })
  await parts.installer.uninstall('weather', { purge: false }, jobContext())
  const other = await writePackage(at('elsewhere'), { id: 'weather', sandbox: { filesystem: true } })
  expect((await refused(install(other)))?.issues).toMatchObject([
    { rule: 'data', message: expect.stringContaining('where a weather that was uninstalled left its own') },
  ])
})
