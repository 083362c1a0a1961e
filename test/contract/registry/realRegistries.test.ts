import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../daemon/core/ports.ts'
import { readPipConfig } from '../../../daemon/install/dependencies/pypi/readPipConfig.ts'
import { createRegistry, type Registry } from '../../../registry/createRegistry.ts'
import { readNpmConfig, toNpmOptions } from '../../../registry/fetch/npm/npmConfig.ts'
import { parseSpec } from '../../../registry/resolve/parseSpec.ts'

/** The npm registry and the package index that this machine's own configuration names. */
const answers = async (url: string) => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(10_000) })).ok
  } catch {
    return false // no network is the answer
  }
}
const npmRegistry = (await readNpmConfig()).registry
const pipConfig = await readPipConfig()
const npmReason = (await answers(new URL('semver', npmRegistry).href)) ? null : `${new URL(npmRegistry).host} does not answer`
const pypiReason = (await answers(`${pipConfig.indexUrl.replace(/\/?$/, '/')}mcp-server-time/`))
  ? null
  : 'the Python package index does not answer'

let scratch: string
let registry: Registry
const context = { signal: new AbortController().signal, progress: () => undefined }
const resolve = (spec: string) => registry.resolver.resolve(parseSpec(spec, '/'), context)

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'pkgd-real-'))
  registry = createRegistry({
    store: join(scratch, 'store'),
    cache: join(scratch, 'cache'),
    tmp: join(scratch, 'tmp'),
    limits: { archiveBytes: 512 * 1024 ** 2, archiveEntries: 100_000 },
    registries: () => [],
    readPipSources: async () => pipConfig,
    pythonMinor: async () => 11,
    env: process.env,
    clock: systemClock,
  })
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe.skipIf(npmReason !== null)(`the npm registry${npmReason === null ? '' : ` [${npmReason}]`}`, () => {
  test('servers as they are published: by tag, by range, by version', async () => {
    const latest = await resolve('npm:@modelcontextprotocol/server-everything')
    expect(latest).toMatchObject({
      layout: 'npm-project',
      manifestOrigin: 'derived',
      manifest: { id: 'server-everything', type: 'mcp-server', entry: { command: 'node' } },
      resolution: { kind: 'npm', name: '@modelcontextprotocol/server-everything', integrity: expect.stringMatching(/^sha512-/) },
    })
    expect(await resolve('npm:@modelcontextprotocol/server-filesystem@2025.8.21')).toMatchObject({ manifest: { version: '2025.8.21' } })
    expect((await resolve('npm:@modelcontextprotocol/server-filesystem@~2025.8.0')).manifest.version).toMatch(/^2025\.8\./)
  })

  test('a tarball goes through fetch, extraction and store with its integrity', async () => {
    const { resolution } = await resolve('npm:@modelcontextprotocol/server-everything')
    const staging = await registry.store.stage()
    const { integrity } = await registry.fetchInto(resolution, staging.directory, context)
    expect(resolution).toMatchObject({ integrity })
    const { digest } = await staging.commit()
    const tree = registry.store.locate(digest)
    expect(await readdir(tree)).toContain('package.json')
    expect(JSON.parse(await readFile(join(tree, 'package.json'), 'utf8'))).toMatchObject({
      name: '@modelcontextprotocol/server-everything',
    })
    expect(await registry.store.verify(digest, 'full')).toEqual([])
  })

  test('what is not there', async () => {
    await expect(resolve('npm:@modelcontextprotocol/no-such-server-at-all')).rejects.toMatchObject({ code: 'PACKAGE_NOT_FOUND' })
    await expect(resolve('npm:@modelcontextprotocol/server-everything@^99')).rejects.toMatchObject({
      code: 'VERSION_NOT_FOUND',
      hint: expect.stringMatching(/^there are \d/),
    })
  })

  test("the configuration is in the form of npm's own libraries", async () => {
    expect(await toNpmOptions(await readNpmConfig())).toMatchObject({ registry: npmRegistry, strictSSL: true })
  })
})

describe.skipIf(pypiReason !== null)(`the Python package index${pypiReason === null ? '' : ` [${pypiReason}]`}`, () => {
  test('a server as it is published, its console script read from the wheel', async () => {
    expect(await resolve('pypi:mcp-server-time')).toMatchObject({
      layout: 'pypi-project',
      manifestOrigin: 'derived',
      manifest: { id: 'mcp-server-time', entry: { command: 'python' } },
      resolution: {
        kind: 'pypi',
        name: 'mcp-server-time',
        integrity: expect.stringMatching(/^sha256-/),
        url: expect.stringMatching(/\.whl$/),
      },
    })
    expect(await resolve('pypi:mcp_server_time@<0.7')).toMatchObject({ resolution: { version: '0.6.2' } })
  })

  test('what is not there', async () => {
    await expect(resolve('pypi:no-such-server-at-all-here')).rejects.toMatchObject({ code: 'PACKAGE_NOT_FOUND' })
    await expect(resolve('pypi:mcp-server-time@>=9999')).rejects.toMatchObject({
      code: 'VERSION_NOT_FOUND',
      hint: expect.stringMatching(/^there are \d/),
    })
  })
})
