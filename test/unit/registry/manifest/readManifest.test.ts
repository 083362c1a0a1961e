import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readManifest } from '../../../../registry/manifest/readManifest.ts'
import { fixture, minimal } from './fixtures.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pkgd-manifest-'))
})
afterEach(() => rm(directory, { recursive: true }))

const write = (content: unknown) =>
  writeFile(join(directory, 'package.json'), typeof content === 'string' ? content : JSON.stringify(content))

describe('readManifest', () => {
  it.each([
    [
      'weather-seed.jsonc',
      { id: 'weather-tool', sandbox: { network: true, cpus: 0.5 }, dependencies: { python: '>=3.11', pypi: ['httpx>=0.25.0'] } },
    ],
    [
      'stock-analyst-seed.jsonc',
      { id: 'stock-analyst', entry: { kind: 'a2a', port: 9001 }, dependencies: { pypi: ['yfinance', 'pandas'] } },
    ],
  ])('reads %s as it stands', async (name, expected) => {
    await cp(fixture(name), join(directory, 'package.json'))
    expect(await readManifest(directory)).toMatchObject({ origin: 'file', manifest: expected })
  })

  it("reads the pkgd key with npm's own fields", async () => {
    const { name, ...rest } = minimal
    await write({
      name: '@scope/tiny-server',
      version: '2.1.0',
      description: 'Tiny',
      author: { name: 'Ann' },
      license: 'MIT',
      type: 'module',
      dependencies: { zod: '^4', local: 'file:../local' },
      pkgd: { type: rest.type, mcp: rest.mcp },
    })
    expect(await readManifest(directory)).toMatchObject({
      origin: 'package-json-key',
      manifest: {
        id: 'tiny-server',
        name: '@scope/tiny-server',
        version: '2.1.0',
        author: 'Ann',
        dependencies: { npm: ['local@file:../local', 'zod@^4'] },
      },
    })
  })

  it('points into the pkgd key', async () => {
    await write({ name: 'x', version: '1.0.0', pkgd: { ...minimal, mcp: {} } })
    await expect(readManifest(directory)).rejects.toMatchObject({ code: 'MANIFEST_INVALID', issues: [{ pointer: '/pkgd/mcp/command' }] })
  })

  it('derives what is plainly a server', async () => {
    await write({
      name: '@scope/server',
      version: '1.2.3',
      bin: { srv: './dist/index.js' },
      mcpName: 'io.x/server',
      dependencies: { a: '1' },
    })
    expect(await readManifest(directory)).toMatchObject({
      origin: 'derived',
      manifest: {
        id: 'server',
        entry: { kind: 'mcp', command: 'node', args: ['dist/index.js'] },
        sandbox: { network: false, data: false, mounts: [] },
        dependencies: { npm: ['a@1'] },
      },
    })
  })

  it.each<[string, unknown, object]>([
    ['an npm library', { name: 'x', version: '1.0.0', type: 'module' }, { code: 'MANIFEST_MISSING' }],
    ['a misspelt type', { ...minimal, type: 'mcp-sever' }, { code: 'MANIFEST_INVALID', hint: 'did you mean "mcp-server"?' }],
    ['a list', [], { code: 'MANIFEST_INVALID' }],
    [
      'a pkgd key that is no object',
      { name: 'x', version: '1.0.0', pkgd: true },
      { code: 'MANIFEST_INVALID', issues: [{ pointer: '/pkgd' }] },
    ],
    ['not JSON', '{\n  "id": "a",\n  oops\n}', { code: 'MANIFEST_INVALID', hint: 'look at line 3, column 3' }],
    ['an unfinished document', '{"id": ', { code: 'MANIFEST_INVALID' }],
    ['nothing', '', { code: 'MANIFEST_INVALID' }],
    ['more than a manifest', `"${'x'.repeat(1024 ** 2)}"`, { code: 'MANIFEST_INVALID' }],
  ])('refuses %s', async (_, content, error) => {
    await write(content)
    await expect(readManifest(directory)).rejects.toMatchObject(error)
  })

  it('tells of a key that stands twice along with everything else that is wrong', async () => {
    await write(
      '{ "id": "a", "id": "b", // twice\n "name": "A", "version": "1", "type": "mcp-server", "mcp": { "command": "node", "command": "sh" } }',
    )
    await expect(readManifest(directory)).rejects.toMatchObject({
      code: 'MANIFEST_INVALID',
      issues: [
        { pointer: '/id', message: 'the key "id" is there twice' },
        { pointer: '/mcp/command', rule: 'unique' },
        { pointer: '/version' },
      ],
    })
    const key = JSON.stringify({ type: 'mcp-server', mcp: { command: 'node' } })
    await write(`{ "name": "n", "name": "x", "version": "1.0.0", "pkgd": ${key} }`)
    expect((await readManifest(directory)).manifest.id).toBe('x')
    await write(`{ "name": "x", "version": "1.0.0", "pkgd": ${key.replace('{', '{"start":"eager","start":"on-demand",')} }`)
    await expect(readManifest(directory)).rejects.toMatchObject({ issues: [{ pointer: '/pkgd/start' }] })
  })

  it('keeps what looks like a comment in a string', async () => {
    await write(
      `\uFEFF{ /* a\n comment */ ${JSON.stringify({ ...minimal, description: 'see https://x /* y */ \\" // z' }).slice(1)} // end`,
    )
    const read = await readManifest(directory)
    expect(read.manifest.description).toBe('see https://x /* y */ \\" // z')
  })

  it('says what to write where there is no manifest', async () => {
    await expect(readManifest(directory)).rejects.toMatchObject({ code: 'MANIFEST_MISSING', hint: expect.stringContaining('pkg init') })
    await writeFile(join(directory, 'plugin.json'), '{}')
    await expect(readManifest(directory)).rejects.toMatchObject({ hint: expect.stringContaining('pkg migrate') })
  })

  it('says that there is no folder', async () => {
    await expect(readManifest(join(directory, 'gone'))).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
    await expect(readManifest(fixture('weather-seed.jsonc'))).rejects.toMatchObject({
      code: 'SOURCE_NOT_FOUND',
      message: expect.stringContaining('is neither a folder nor a .tgz, .tar.gz or .tar archive'),
    })
  })

  it('gives the document as it stands', async () => {
    await write(minimal)
    expect((await readManifest(directory)).raw).toEqual(JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')))
  })
})
