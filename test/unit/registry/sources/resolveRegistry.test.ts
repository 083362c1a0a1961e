import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tarBytes } from '../store/tarBytes.ts'
import { createRegistryFixture, type RegistryFixture } from './registryFixture.ts'

let at: RegistryFixture
let folder: string
beforeEach(async () => {
  at = await createRegistryFixture()
  folder = join(at.scratch, 'packages')
  mkdirSync(folder)
  at.registries.push({ kind: 'folder', path: folder }, { kind: 'npm', url: at.http.url, scope: 'own' })
})
afterEach(() => at.close())

const manifest = (id: string, version: string, fields: object = {}) =>
  JSON.stringify({ id, name: id, version, type: 'mcp-server', mcp: { transport: 'stdio', command: 'node', args: ['x.mjs'] }, ...fields })
const put = (path: string, content: string | Buffer) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
const packed = (id: string, version: string) => gzipSync(tarBytes([{ path: 'package/package.json', body: manifest(id, version) }]))
const versionsOf = async (id: string) => (await at.resolver.versions(id, at.context)).map((candidate) => candidate.manifest.version)
const resolve = (id: string, range = '*') => at.resolver.resolve({ kind: 'registry', id, range }, at.context)

test('folders and archives, directly or one level down, newest first', async () => {
  put('weather/package.json', manifest('weather', '1.0.0'))
  put('weather-1.2.0.tgz', packed('weather', '1.2.0'))
  put('old/1.10.0/package.json', manifest('weather', '1.10.0'))
  put('old/rc.tgz', packed('weather', '2.0.0-rc.1'))
  put('other/package.json', manifest('other', '9.0.0'))
  put('notes.txt', 'x')
  put('deep/er/still/package.json', manifest('weather', '5.0.0'))
  expect(await versionsOf('weather')).toEqual(['2.0.0-rc.1', '1.10.0', '1.2.0', '1.0.0'])
  expect(await resolve('weather')).toMatchObject({ manifest: { version: '1.10.0' }, resolution: { kind: 'folder' } })
  expect(await resolve('weather', '~1.2')).toMatchObject({ resolution: { kind: 'archive', integrity: expect.stringMatching(/^sha512-/) } })
  expect(await resolve('weather', '^2.0.0-0')).toMatchObject({ manifest: { version: '2.0.0-rc.1' } })
  await expect(resolve('weather', '^3')).rejects.toMatchObject({
    code: 'VERSION_NOT_FOUND',
    hint: 'there are 2.0.0-rc.1, 1.10.0, 1.2.0, 1.0.0',
  })
})

test('the first registry that has an id answers for it; extensions of an npm registry by its scope', async () => {
  put('mine/package.json', manifest('mine', '1.0.0'))
  const key = (id: string) => ({ id, type: 'mcp-server', mcp: { transport: 'stdio', command: 'node', args: ['x.js'] } })
  at.publish('@own/mine', [{ version: '7.0.0', pkgd: key('mine') }])
  at.publish('@own/theirs', [
    { version: '1.0.0', pkgd: key('theirs') },
    { version: '1.1.0', pkgd: { id: 'BROKEN' } },
    { version: '1.2.0', pkgd: key('renamed') },
  ])
  at.publish('@own/library', [{ version: '1.0.0', bin: 'x.js' }])
  expect(await versionsOf('mine')).toEqual(['1.0.0'])
  expect(await versionsOf('theirs')).toEqual(['1.0.0'])
  expect(await versionsOf('library')).toEqual([])
})

test('a registry that npm does not ask gives only packages with a manifest of ours: npm would take the name from its own', async () => {
  const key = { id: 'keyed', type: 'mcp-server', mcp: { transport: 'stdio', command: 'node', args: ['x.js'] } }
  at.publish('@own/keyed', [{ version: '1.0.0', pkgd: key }])
  at.publish('@own/derived', [{ version: '1.0.0', bin: 'x.js', mcpName: 'io.x/derived' }])
  expect(await versionsOf('derived')).toEqual(['1.0.0'])
  at.env.npm_config_registry = 'http://127.0.0.1:1/'
  expect(await versionsOf('keyed')).toEqual(['1.0.0'])
  await expect(resolve('derived')).rejects.toMatchObject({ code: 'MANIFEST_MISSING', hint: expect.stringContaining('@own:registry=') })

  const row = (name: string) => ({ package: { name, version: '1.0.0', keywords: ['mcp'] } })
  at.pages.set('/-/v1/search', JSON.stringify({ objects: [row('@own/keyed'), row('public')] }))
  expect((await at.search('keyed', at.context)).results.map(({ spec }) => spec)).toEqual(['keyed@1.0.0'])
})

test('nothing of the name: the nearest is hinted', async () => {
  put('weather-tool/package.json', manifest('weather-tool', '1.0.0'))
  await expect(resolve('wether-tool')).rejects.toMatchObject({ code: 'PACKAGE_NOT_FOUND', hint: 'did you mean weather-tool?' })
  await expect(resolve('zzz')).rejects.toMatchObject({ code: 'PACKAGE_NOT_FOUND', hint: expect.stringContaining('npm:zzz') })
  at.registries.length = 0
  await expect(resolve('zzz')).rejects.toMatchObject({
    code: 'PACKAGE_NOT_FOUND',
    message: expect.stringContaining('No registry is configured'),
  })
})

test('a registry out of reach does not give its names to the next one; a broken package says what is wrong with it', async () => {
  at.registries.splice(1, 0, { kind: 'npm', url: 'http://127.0.0.1:1/', scope: null })
  await expect(resolve('theirs')).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE' })
  put('broken/package.json', '{"id": "broken", ')
  await expect(resolve('broken')).rejects.toMatchObject({ code: 'MANIFEST_INVALID' })
})

test('an archive that changed is read again', async () => {
  put('a.tgz', packed('a', '1.0.0'))
  expect(await versionsOf('a')).toEqual(['1.0.0'])
  put('a.tgz', packed('a', '1.0.1'))
  expect(await versionsOf('a')).toEqual(['1.0.1'])
})

test('search: every word, all registries, the broken ones reported beside the rest', async () => {
  put('weather/package.json', manifest('weather', '1.0.0', { description: 'Rain and sun', keywords: ['forecast'] }))
  put('sea/package.json', manifest('sea', '1.0.0', { description: 'Tides, and the weather' }))
  put('broken/package.json', '{')
  at.registries.push({ kind: 'npm', url: 'http://127.0.0.1:1/', scope: null })
  const row = (name: string, keywords: string[]) => ({ package: { name, version: '1.0.0', description: 'd', keywords } })
  at.pages.set('/-/v1/search', JSON.stringify({ objects: [row('weather-mcp', []), row('weather-ui', ['react']), row('wind', ['MCP'])] }))

  const { results, failures } = await at.search('weather', at.context)
  expect(results.map(({ id, spec }) => [id, spec])).toEqual([
    ['weather', join(folder, 'weather')],
    ['weather-mcp', 'npm:weather-mcp@1.0.0'],
    ['sea', join(folder, 'sea')],
    ['wind', 'npm:wind@1.0.0'],
  ])
  expect(failures).toEqual([
    { registry: join(folder, 'broken'), message: expect.stringContaining('not JSON') },
    { registry: '127.0.0.1:1', message: expect.stringContaining('refused') },
  ])
  expect((await at.search('RAIN forecast', at.context)).results[0]?.id).toBe('weather')
  expect(await at.search('weather', at.context)).toEqual({ results, failures })
})

test('a registry without a search says so', async () => {
  expect((await at.search('weather', at.context)).failures).toEqual([
    { registry: new URL(at.http.url).host, message: expect.stringContaining('offers no search') },
  ])
})
