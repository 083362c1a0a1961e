import { PkgdError } from '../../../core/errors.ts'
import type { PipConfig } from './pipConfig.ts'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Where indexes keep their files when that is not where they are themselves. */
const fileHosts: Readonly<Record<string, readonly string[]>> = { 'pypi.org': ['https://files.pythonhosted.org'] }

/** What the build sandbox may reach: the proxy alone where there is one, else the indexes and where their links lead. Sorted, each once. */
export function toIndexReach(config: PipConfig, links: readonly string[]): Endpoint[] {
  const urls = config.proxy
    ? [withScheme(config.proxy)]
    : [config.indexUrl, ...config.extraIndexUrls].flatMap((url) => [url, ...(fileHosts[hostOf(url)] ?? [])]).concat(links)
  const endpoints = new Map(urls.map((url) => toEndpoint(url)).map((endpoint) => [`${endpoint.host}:${endpoint.port}`, endpoint]))
  return [...endpoints.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint)
}

/** Whether an index's files must be looked for: it is not one whose file host is known. */
export const needsDiscovery = (indexUrl: string): boolean => !(hostOf(indexUrl) in fileHosts)

/** The project that a requirement names. */
export const projectOf = (requirement: string): string | undefined => /^[A-Za-z0-9][A-Za-z0-9._-]*/.exec(requirement.trim())?.[0]

const withScheme = (proxy: string): string => (/^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`)
const hostOf = (url: string): string => URL.parse(url)?.hostname ?? ''

function toEndpoint(text: string): Endpoint {
  const url = URL.parse(text)
  if (!url?.hostname)
    throw new PkgdError('CONFIG_INVALID', "An index URL in pip's configuration cannot be read", { hint: 'pip config list shows them' })
  const port =
    url.port !== ''
      ? Number(url.port)
      : url.protocol === 'https:'
        ? 443
        : url.protocol === 'socks5:' || url.protocol === 'socks5h:'
          ? 1080
          : 80
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port }
}
