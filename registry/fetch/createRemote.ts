import { join } from 'node:path'
import type { Clock } from '../../daemon/core/ports.ts'
import type { ArchiveLimits } from '../store/archiveLimits.ts'
import { createDownloads, type Downloads } from './http/download.ts'
import { createHttpClient } from './http/httpClient.ts'
import type { HttpClient, NetworkOptions } from './http/httpExchange.ts'
import { createMetadataCache, type MetadataCache } from './http/metadataCache.ts'
import { type NpmConfig, readNpmConfig } from './npm/npmConfig.ts'
import { createNpmRegistry, type NpmRegistry } from './npm/npmRegistry.ts'

/** Everything that reaches out for packages, with its caches: shared by resolving, fetching and searching. */
export interface Remote {
  readonly npm: NpmRegistry
  readonly downloads: Downloads
  readonly metadata: MetadataCache
  /** Read each time: what the user changes in ~/.npmrc counts at once. */
  readNpmConfig(): Promise<NpmConfig>
  /** One client for each way of reaching the network. */
  client(network: NetworkOptions): HttpClient
}

export function createRemote(deps: {
  /** Where downloads and answers are kept. */
  readonly cache: string
  readonly limits: ArchiveLimits
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Waits before a failed request is sent again, one each time. */
  readonly retryAfterMs?: readonly number[]
}): Remote {
  const { cache, limits, env, clock } = deps
  const clients = new Map<string, HttpClient>()
  const client = (network: NetworkOptions) => {
    const key = JSON.stringify(network)
    const known = clients.get(key) ?? createHttpClient({ env, network, ...(deps.retryAfterMs && { retryAfterMs: deps.retryAfterMs }) })
    clients.set(key, known)
    return known
  }
  const metadata = createMetadataCache({ directory: join(cache, 'metadata'), clock })
  const readConfig = () => readNpmConfig(env)
  return {
    npm: createNpmRegistry({ readConfig, client, cache: metadata }),
    downloads: createDownloads({ directory: join(cache, 'archives'), mostBytes: limits.archiveBytes, clock }),
    metadata,
    readNpmConfig: readConfig,
    client,
  }
}
