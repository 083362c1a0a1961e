import { assertNever } from '../../daemon/core/errors.ts'
import { createRegistryFolders } from './registryFolder.ts'
import type { Resolver } from './resolution.ts'
import { resolveArchive, resolveFolder, resolveGit, resolveHttps } from './resolveFiles.ts'
import { resolveNpm } from './resolveNpm.ts'
import { resolvePypi } from './resolvePypi.ts'
import { listVersions, resolveRegistry } from './resolveRegistry.ts'
import type { ResolverDeps } from './resolverDeps.ts'

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
