import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRegistryFixture, type RegistryFixture, sri } from './registryFixture.ts'
import { zipBytes } from './zipBytes.ts'

let at: RegistryFixture
beforeEach(async () => {
  at = await createRegistryFixture()
})
afterEach(() => at.close())

/** Publishes wheels: file name to entry points. */
const publish = (project: string, wheels: Readonly<Record<string, string>>, fields: Record<string, unknown> = {}) => {
  const files = Object.entries(wheels).map(([filename, entryPoints]) => {
    const wheel = zipBytes({
      'x-1.dist-info/METADATA': 'Name: x\nSummary: Tells\nRequires-Python: >=3.10\n',
      'x-1.dist-info/entry_points.txt': entryPoints,
    })
    at.pages.set(`/files/${filename}`, wheel)
    return {
      filename,
      url: `../../files/${filename}`,
      hashes: { sha256: Buffer.from(sri('sha256', wheel).slice(7), 'base64').toString('hex') },
      yanked: false,
      ...fields,
    }
  })
  at.pages.set(`/simple/${project}/`, JSON.stringify({ files }))
}
const script = '[console_scripts]\nmy-server = my_server:main\n'
const resolve = (name: string, range = '') => at.resolver.resolve({ kind: 'pypi', name, range }, at.context)

test('the newest wheel, with a manifest from its console script; the wheel can be fetched', async () => {
  publish('my-server', { 'my_server-1.9-py3-none-any.whl': script, 'my_server-1.10-py3-none-any.whl': script })
  const found = await resolve('My_Server')
  expect(found).toMatchObject({
    layout: 'pypi-project',
    manifestOrigin: 'derived',
    manifest: { id: 'my-server', version: '1.10.0', description: 'Tells', dependencies: { python: '>=3.10' } },
    resolution: {
      kind: 'pypi',
      version: '1.10',
      url: `${at.http.url}/files/my_server-1.10-py3-none-any.whl`,
      integrity: expect.stringMatching(/^sha256-/),
    },
  })
  const into = join(at.scratch, 'into')
  mkdirSync(into)
  await at.fetchInto(found.resolution, into, at.context)
  expect(readdirSync(into)).toEqual(['my_server-1.10-py3-none-any.whl'])
})

test('an index in HTML', async () => {
  publish('my-server', { 'my_server-1.9-py3-none-any.whl': script })
  const wheel = at.pages.get('/files/my_server-1.9-py3-none-any.whl')
  if (!(wheel instanceof Buffer)) throw new Error('no wheel')
  const hex = Buffer.from(sri('sha256', wheel).slice(7), 'base64').toString('hex')
  const answer = at.http.answer
  at.http.answer = (request, response) => {
    if (request.url !== '/simple/my-server/') return answer(request, response)
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<a href="/files/my_server-1.9-py3-none-any.whl#sha256=${hex}">my_server-1.9-py3-none-any.whl</a>`)
  }
  expect(await resolve('my-server')).toMatchObject({ manifest: { version: '1.9.0' } })
})

test.each<[string, string, object]>([
  ['nothing', '', { code: 'PACKAGE_NOT_FOUND' }],
  ['my-server', '>=9', { code: 'VERSION_NOT_FOUND', hint: 'there are 1.10, 1.9' }],
  ['library', '', { code: 'MANIFEST_MISSING' }],
  ['foreign', '', { code: 'VERSION_NOT_FOUND', message: expect.stringContaining('no wheel that runs here') }],
  ['wrong', '', { code: 'INTEGRITY_MISMATCH' }],
  ['broken', '', { code: 'REGISTRY_UNREACHABLE' }],
  ['gone', '', { code: 'SOURCE_NOT_FOUND' }],
])('pypi:%s%s', async (name, range, expected) => {
  publish('my-server', { 'my_server-1.9-py3-none-any.whl': script, 'my_server-1.10-py3-none-any.whl': script })
  publish('library', { 'library-1-py3-none-any.whl': '' })
  publish('foreign', { 'foreign-1-cp311-cp311-win_amd64.whl': script })
  publish('wrong', { 'wrong-1-py3-none-any.whl': script })
  at.pages.set('/files/wrong-1-py3-none-any.whl', 'other')
  publish('gone', { 'gone-1-py3-none-any.whl': script })
  at.pages.delete('/files/gone-1-py3-none-any.whl')
  at.pages.set('/simple/broken/', { status: 502 })
  await expect(resolve(name, range)).rejects.toMatchObject(expected)
})

test('out of reach, what was seen before is still there', async () => {
  publish('my-server', { 'my_server-1.9-py3-none-any.whl': script })
  const before = await resolve('my-server')
  await at.http.close()
  expect(await resolve('my-server')).toEqual(before)
  expect(at.progress.map(({ message }) => message).join('\n')).toContain('using what it answered before')
})
