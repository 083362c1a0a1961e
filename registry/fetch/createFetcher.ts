import { copyFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { assertNever } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { demandArchive } from '../manifest/localSource.ts'
import type { Resolution } from '../resolve/resolution.ts'
import type { ArchiveLimits } from '../store/archiveLimits.ts'
import { extractArchive } from '../store/extractArchive.ts'
import type { Remote } from './createRemote.ts'
import type { Fetched, FetchInto } from './fetcher.ts'
import { fetchFolder } from './fetchFolder.ts'
import { fetchGit } from './git/fetchGit.ts'
import { pickNpmAuthorization } from './npm/npmConfig.ts'
import type { PypiIndex } from './pypi/pypiIndex.ts'

export interface FetcherDeps {
  readonly remote: Remote
  readonly pypi: PypiIndex
  readonly limits: ArchiveLimits
  /** Scratch space. */
  readonly tmp: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** One fetcher for every kind of resolution. */
export function createFetcher(deps: FetcherDeps): FetchInto {
  const { remote, limits } = deps

  const extract = async (
    archive: string,
    integrity: string | null,
    name: string,
    directory: string,
    context: OperationContext,
  ): Promise<Fetched> => {
    const extracted = await extractArchive({ archive, directory, limits, integrity, name, signal: context.signal })
    return { integrity: extracted.integrity }
  }

  return async (resolution: Resolution, directory, context): Promise<Fetched> => {
    context.progress({ stage: 'fetch', message: describe(resolution) })
    switch (resolution.kind) {
      case 'folder':
        await fetchFolder(resolution.path, directory, limits, context)
        return { integrity: null }
      case 'archive':
        await demandArchive(resolution.path)
        return extract(resolution.path, resolution.integrity, basename(resolution.path), directory, context)
      case 'npm': {
        const config = await remote.readNpmConfig()
        const { tarball: url, integrity } = resolution
        const authorization = pickNpmAuthorization(config, url)
        const request = { url, integrity, name: describe(resolution), ...(authorization && { authorization }) }
        const { file } = await remote.downloads.get(remote.client(config.network), request, context)
        return extract(file, integrity, request.name, directory, context)
      }
      case 'https': {
        const { url, integrity } = resolution
        const { file } = await remote.downloads.get(remote.client({}), { url, integrity, name: url }, context)
        return extract(file, integrity, url, directory, context)
      }
      case 'pypi': {
        // A wheel is installed by pip, which wants it as it is.
        const { url, integrity } = resolution
        const { client, authorization } = await deps.pypi.reach(url)
        const request = { url, integrity, name: describe(resolution), ...(authorization && { authorization }) }
        const { file, integrity: received } = await remote.downloads.get(client, request, context)
        await copyFile(file, join(directory, basename(new URL(url).pathname)))
        return { integrity: received }
      }
      case 'git':
        await fetchGit({ url: resolution.url, commit: resolution.commit, directory, limits, tmp: deps.tmp, env: deps.env }, context)
        return { integrity: null }
      default:
        return assertNever(resolution)
    }
  }
}

function describe(resolution: Resolution): string {
  switch (resolution.kind) {
    case 'folder':
    case 'archive':
      return resolution.path
    case 'npm':
    case 'pypi':
      return `${resolution.name}@${resolution.version}`
    case 'git':
      return `${resolution.url}#${resolution.commit.slice(0, 12)}`
    case 'https':
      return resolution.url
    default:
      return assertNever(resolution)
  }
}
