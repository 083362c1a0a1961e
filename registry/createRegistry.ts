import type { Clock } from '../daemon/core/ports.ts'
import { createFetcher } from './fetch/createFetcher.ts'
import { createRemote, type Remote } from './fetch/createRemote.ts'
import type { FetchInto } from './fetch/fetcher.ts'
import { createPypiIndex, type PipSources } from './fetch/pypi/pypiIndex.ts'
import { createResolver } from './resolve/createResolver.ts'
import type { RegistrySource } from './resolve/registrySource.ts'
import type { Resolver } from './resolve/resolution.ts'
import { createSearch, type Search } from './search/createSearch.ts'
import type { ArchiveLimits } from './store/archiveLimits.ts'
import { createPackageStore } from './store/createPackageStore.ts'
import type { PackageStore } from './store/packageStore.ts'

export interface RegistryDeps {
  /** Directories: the store's, the download caches', scratch space. */
  readonly store: string
  readonly cache: string
  readonly tmp: string
  readonly limits: ArchiveLimits
  /** Where ids are looked up, in order; read at each use, so that a changed configuration counts. */
  readonly registries: () => readonly RegistrySource[]
  readonly readPipSources: () => Promise<PipSources>
  readonly pythonMinor: () => Promise<number | null>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** What a package is and where its bits come from, put together. */
export interface Registry {
  readonly store: PackageStore
  readonly fetchInto: FetchInto
  readonly resolver: Resolver
  readonly search: Search
  /** The way out, with its caches. */
  readonly remote: Remote
}

export function createRegistry(deps: RegistryDeps): Registry {
  const { limits, env, clock, tmp, readPipSources, pythonMinor } = deps
  const remote = createRemote({ cache: deps.cache, limits, env, clock })
  const pypi = createPypiIndex({ readSources: readPipSources, client: remote.client, cache: remote.metadata })
  const resolverDeps = { remote, pypi, limits, tmp, env, pythonMinor, registries: deps.registries }
  return {
    store: createPackageStore({ directory: deps.store }),
    fetchInto: createFetcher({ remote, pypi, limits, tmp, env }),
    resolver: createResolver(resolverDeps),
    search: createSearch(resolverDeps),
    remote,
  }
}
