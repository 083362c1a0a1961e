import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Source } from '../../../../registry/resolve/resolution.ts'
import { createRegistryFixture, type RegistryFixture } from './registryFixture.ts'

let at: RegistryFixture
beforeEach(async () => {
  at = await createRegistryFixture()
})
afterEach(() => at.close())

const npm = (name: string, range = 'latest'): Source => ({ kind: 'npm', name, range })
const server = (version: string, fields: Record<string, unknown> = {}) => ({ version, bin: 'index.js', ...fields })
const ours = { mcp: { transport: 'stdio', command: 'node', args: ['index.js'] }, type: 'mcp-server' }

test('a server without a manifest of ours becomes a project that depends on it, by one request', async () => {
  at.publish('@own/my-server', [server('1.0.0'), server('1.1.0', { description: 'Serves', engines: { node: '>=20' } })])
  const found = await at.resolver.resolve(npm('@own/my-server'), at.context)
  expect(found).toMatchObject({
    layout: 'npm-project',
    manifestOrigin: 'derived',
    manifest: {
      id: 'my-server',
      version: '1.1.0',
      description: 'Serves',
      entry: { command: 'node', args: ['node_modules/@own/my-server/index.js'] },
    },
    resolution: { kind: 'npm', name: '@own/my-server', version: '1.1.0', integrity: expect.stringMatching(/^sha512-/) },
  })
  expect(at.http.requests.map(({ path }) => path)).toEqual(['/@own%2Fmy-server/latest'])
})

test('a package with a pkgd key is its own files, and they can be fetched', async () => {
  at.publish('with-key', [server('1.0.0', { pkgd: { ...ours, id: 'keyed' } })])
  const found = await at.resolver.resolve(npm('with-key', '^1'), at.context)
  expect(found).toMatchObject({ layout: 'files', manifestOrigin: 'package-json-key', manifest: { id: 'keyed', version: '1.0.0' } })
  const into = join(at.scratch, 'into')
  mkdirSync(into)
  await at.fetchInto(found.resolution, into, at.context)
  expect(JSON.parse(readFileSync(join(into, 'package.json'), 'utf8'))).toMatchObject({ name: 'with-key' })
})

test('a registry that answers whole documents only', async () => {
  at.publish('whole', [server('1.0.0'), server('1.2.0')])
  for (const path of ['/whole/latest', '/whole/1.0.0', '/whole/1.2.0']) at.pages.delete(path)
  for (const range of ['latest', '^1', '1.2.0']) {
    expect(await at.resolver.resolve(npm('whole', range), at.context)).toMatchObject({ manifest: { version: '1.2.0' } })
  }
})

test.each<[string, string, object]>([
  ['nothing', 'latest', { code: 'PACKAGE_NOT_FOUND', message: expect.stringContaining('"nothing"') }],
  ['there', '^9', { code: 'VERSION_NOT_FOUND', hint: 'there are 2.0.0, 1.1.0, 1.0.0 (latest is 2.0.0)' }],
  ['there', '1.0.7', { code: 'VERSION_NOT_FOUND', hint: 'there are 1.1.0, 1.0.0, 2.0.0 (latest is 2.0.0)' }],
  ['there', 'beta', { code: 'VERSION_NOT_FOUND' }],
  ['library', 'latest', { code: 'MANIFEST_MISSING' }],
  ['invalid', 'latest', { code: 'MANIFEST_INVALID' }],
  ['broken', 'latest', { code: 'REGISTRY_UNREACHABLE', message: expect.stringContaining('answered 500') }],
  ['denied', 'latest', { code: 'REGISTRY_UNREACHABLE', hint: expect.stringContaining('token') }],
  ['html', 'latest', { code: 'REGISTRY_UNREACHABLE', message: expect.stringContaining('not JSON') }],
])('npm:%s@%s', async (name, range, expected) => {
  at.publish('there', [server('1.0.0'), server('1.1.0'), server('2.0.0')])
  at.publish('library', [{ version: '1.0.0', main: 'index.js' }])
  at.publish('invalid', [server('1.0.0', { pkgd: { id: 'UPPER' } })])
  at.pages.set('/broken/latest', { status: 500 })
  at.pages.set('/denied/latest', { status: 403 })
  at.pages.set('/html/latest', '<html>')
  await expect(at.resolver.resolve(npm(name, range), at.context)).rejects.toMatchObject(expected)
  expect(readdirSync(at.scratch)).not.toContain('tmp')
})

test("a scope's registry and its token, which the tarball of another host does not get", async () => {
  const { url } = at.http
  at.publish('@own/a', [server('1.0.0', { pkgd: { ...ours, id: 'a' } })])
  writeFileSync(join(at.scratch, '.npmrc'), `@own:registry=${url}\n${url.replace('http:', '')}/:_authToken=\${MY_TOKEN}\n`)
  at.env.npm_config_registry = 'http://127.0.0.1:1/'
  at.env.MY_TOKEN = 'secret'
  const found = await at.resolver.resolve(npm('@own/a'), at.context)
  expect(at.http.requests[0]?.headers.authorization).toBe('Bearer secret')
  const into = join(at.scratch, 'into')
  mkdirSync(into)
  if (found.resolution.kind !== 'npm') throw new Error('not npm')
  const elsewhere = { ...found.resolution, tarball: found.resolution.tarball.replace('127.0.0.1', 'localhost') }
  await at.fetchInto(elsewhere, into, at.context)
  expect(at.http.requests.at(-1)?.headers.authorization).toBeUndefined()
})

test('a tarball that is not what the registry says is refused, and nothing is left of it', async () => {
  at.publish('keyed', [server('1.0.0', { pkgd: { ...ours, id: 'keyed' } })])
  const { resolution } = await at.resolver.resolve(npm('keyed'), at.context)
  at.pages.set('/keyed/-/1.0.0.tgz', 'something else')
  const into = join(at.scratch, 'into')
  mkdirSync(into)
  await expect(at.fetchInto(resolution, into, at.context)).rejects.toMatchObject({ code: 'INTEGRITY_MISMATCH' })
  expect(readdirSync(into)).toEqual([])
  expect(readdirSync(join(at.scratch, 'cache/archives'))).toEqual([])
})

test('out of reach, what was seen before is still there: resolved and fetched', async () => {
  at.publish('keyed', [server('1.0.0', { pkgd: { ...ours, id: 'keyed' } })])
  const before = await at.resolver.resolve(npm('keyed', '^1'), at.context)
  const [one, two] = ['one', 'two'].map((name) => join(at.scratch, name))
  if (!one || !two) throw new Error('no folders')
  for (const into of [one, two]) mkdirSync(into)
  await at.fetchInto(before.resolution, one, at.context)
  await at.http.close()
  expect(await at.resolver.resolve(npm('keyed', '^1'), at.context)).toEqual(before)
  expect(at.progress.map(({ message }) => message).join('\n')).toContain('using what it answered before')
  await at.fetchInto(before.resolution, two, at.context)
  expect(readdirSync(two)).toEqual(['package.json'])
})
