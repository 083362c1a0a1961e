import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Header } from 'tar'

export interface Published {
  readonly name: string
  readonly version: string
  readonly [key: string]: unknown
}

/** An npm registry on loopback that serves these packages, each of a package.json and an empty index.js. */
export async function startNpmRegistry(packages: readonly Published[], options: { readonly token?: string } = {}) {
  const tarballs = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    if (options.token && request.headers.authorization !== `Bearer ${options.token}`) return void response.writeHead(401).end('{}')
    const path = decodeURIComponent(request.url ?? '')
    const tarball = tarballs.get(path)
    if (tarball) return void response.end(tarball)
    const [, name = '', version] = /^\/((?:@[^/]+\/)?[^/]+)(?:\/(.+))?$/.exec(path) ?? []
    const document = version ? toVersions(name)[version === 'latest' ? latestOf(name) : version] : toPackument(name)
    if (!document) return void response.writeHead(404).end('{}')
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  const latestOf = (name: string) => packages.filter((one) => one.name === name).at(-1)?.version ?? ''
  const toVersions = (name: string): Record<string, unknown> =>
    Object.fromEntries(
      packages
        .filter((one) => one.name === name)
        .map((manifest) => {
          const tarball = pack({ 'package/package.json': JSON.stringify(manifest), 'package/index.js': '' })
          const path = `/-/${manifest.name}-${manifest.version}.tgz`
          tarballs.set(path, tarball)
          const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
          return [manifest.version, { ...manifest, dist: { tarball: new URL(path.slice(1), url).href, integrity } }]
        }),
    )
  const toPackument = (name: string) => {
    const versions = toVersions(name)
    return Object.keys(versions).length > 0 && { name, versions, 'dist-tags': { latest: latestOf(name) } }
  }
  for (const { name } of packages) toVersions(name)

  return {
    url,
    /** npm's environment for it. */
    env: { ...process.env, npm_config_registry: url, npm_config_userconfig: '/dev/null', npm_config_globalconfig: '/dev/null' },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function pack(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([path, text]) => {
    const content = Buffer.from(text)
    const header = Buffer.alloc(512)
    new Header({ path, mode: 0o644, size: content.length, type: 'File', mtime: new Date(0) }).encode(header)
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}
