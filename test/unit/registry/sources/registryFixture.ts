import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { OperationContext, Progress } from '../../../../daemon/core/ports.ts'
import { systemClock } from '../../../../daemon/core/ports.ts'
import { createFetcher } from '../../../../registry/fetch/createFetcher.ts'
import { createRemote } from '../../../../registry/fetch/createRemote.ts'
import { createPypiIndex } from '../../../../registry/fetch/pypi/pypiIndex.ts'
import { createResolver } from '../../../../registry/resolve/createResolver.ts'
import type { RegistrySource } from '../../../../registry/resolve/registrySource.ts'
import { createSearch } from '../../../../registry/search/createSearch.ts'
import { createHttpFixture, type HttpFixture } from '../fetch/httpFixture.ts'
import { tarBytes } from '../store/tarBytes.ts'

/** A server whose paths a test fills: npm documents, tarballs, index pages. */
export interface RegistryFixture {
  readonly http: HttpFixture
  readonly scratch: string
  readonly progress: Progress[]
  readonly context: OperationContext
  readonly env: Record<string, string>
  readonly registries: RegistrySource[]
  /** Path to what is answered there. */
  readonly pages: Map<string, Buffer | string | { readonly status: number }>
  readonly resolver: ReturnType<typeof createResolver>
  readonly fetchInto: ReturnType<typeof createFetcher>
  readonly search: ReturnType<typeof createSearch>
  /** Publishes an npm package; its document, its versions and their tarballs. */
  publish(name: string, versions: readonly Record<string, unknown>[], tags?: Readonly<Record<string, string>>): void
  close(): Promise<void>
}

export const sri = (algorithm: string, bytes: Buffer | string) => `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`

/** A resolver, a fetcher and a search over a server on loopback, with a user's configuration that names it. */
export async function createRegistryFixture(): Promise<RegistryFixture> {
  const http = await createHttpFixture()
  const scratch = mkdtempSync(join(tmpdir(), 'pkgd-registry-'))
  const pages: RegistryFixture['pages'] = new Map()
  const progress: Progress[] = []
  const registries: RegistrySource[] = []
  const env: Record<string, string> = {
    HOME: scratch,
    PATH: process.env.PATH ?? '',
    npm_config_registry: http.url,
    npm_config_globalconfig: '/nowhere',
  }
  http.answer = (request, response) => {
    const page = pages.get(decodeURIComponent((request.url ?? '').split('?')[0] ?? ''))
    if (page === undefined) response.writeHead(404).end()
    else if (typeof page === 'object' && 'status' in page) response.writeHead(page.status).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(page)
  }
  const limits = { archiveBytes: 10_000_000, archiveEntries: 1000 }
  const remote = createRemote({ cache: join(scratch, 'cache'), limits, env, clock: systemClock, retryAfterMs: [] })
  const pypi = createPypiIndex({
    readSources: async () => ({ indexUrl: `${http.url}/simple`, extraIndexUrls: [], cert: null, proxy: null, trustedHosts: [] }),
    client: remote.client,
    cache: remote.metadata,
  })
  const deps = { remote, pypi, limits, tmp: join(scratch, 'tmp'), env, registries: () => registries, pythonMinor: async () => 11 }
  return {
    http,
    scratch,
    progress,
    env,
    registries,
    pages,
    context: { signal: new AbortController().signal, progress: (step) => progress.push(step) },
    resolver: createResolver(deps),
    fetchInto: createFetcher({ remote, pypi, limits, tmp: scratch, env }),
    search: createSearch(deps),
    publish(name, versions, tags = {}) {
      const published = versions.map((packageJson) => {
        const version = String(packageJson.version)
        const tarball = gzipSync(tarBytes([{ path: 'package/package.json', body: JSON.stringify({ name, ...packageJson }) }]))
        const path = `/${name}/-/${version}.tgz`
        pages.set(path, tarball)
        return [version, { name, ...packageJson, dist: { tarball: http.url + path, integrity: sri('sha512', tarball) } }] as const
      })
      const latest = versions.at(-1)?.version
      pages.set(`/${name}`, JSON.stringify({ name, versions: Object.fromEntries(published), 'dist-tags': { latest, ...tags } }))
      for (const [version, document] of published) pages.set(`/${name}/${version}`, JSON.stringify(document))
      pages.set(`/${name}/latest`, JSON.stringify(Object.fromEntries(published)[String(tags.latest ?? latest)]))
    },
    async close() {
      await http.close()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
