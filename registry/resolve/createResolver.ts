import { assertNever } from '../../daemon/core/errors.ts'
import type { Remote } from '../fetch/createRemote.ts'
import type { PypiIndex } from '../fetch/pypi/pypiIndex.ts'
import type { ArchiveLimits } from '../store/extractArchive.ts'
import { createRegistryFolders } from './registryFolder.ts'
import type { RegistrySource } from './registrySource.ts'
import type { Resolver } from './resolution.ts'
import { resolveArchive, resolveFolder, resolveGit, resolveHttps } from './resolveFiles.ts'
import { resolveNpm } from './resolveNpm.ts'
import { resolvePypi } from './resolvePypi.ts'
import { listVersions, resolveRegistry } from './resolveRegistry.ts'

export interface ResolverDeps {
  readonly remote: Remote
  readonly pypi: PypiIndex
  readonly limits: ArchiveLimits
  /** Where ids are looked up, in order; read at each use. */
  readonly registries: () => readonly RegistrySource[]
  /** Scratch space. */
  readonly tmp: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The minor version of the Python that packages run on (11 for 3.11), or null where that is not known yet. */
  readonly pythonMinor: () => Promise<number | null>
}

/** One resolver for every kind of source. */
export function createResolver(deps: ResolverDeps): Resolver {
  const folders = createRegistryFolders(deps)
  return {
    async resolve(source, context) {
      switch (source.kind) {
        case 'folder':
          return resolveFolder(source.path)
        case 'archive':
          return resolveArchive(deps, source.path, context)
        case 'npm':
          return resolveNpm(deps.remote.npm, source.name, source.range, context)
        case 'pypi':
          return resolvePypi(deps, source.name, source.range, context)
        case 'git':
          return resolveGit(deps, source.url, source.ref, context)
        case 'https':
          return resolveHttps(deps, source.url, source.integrity, context)
        case 'registry':
          return resolveRegistry(deps, folders, source, context)
        default:
          return assertNever(source)
      }
    },
    versions: (id, context) => listVersions(deps, folders, id, context),
  }
}
