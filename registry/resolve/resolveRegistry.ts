import { distance } from 'fastest-levenshtein'
import semver from 'semver'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { isNpmRegistryOf } from '../fetch/npm/npmConfig.ts'
import { isExtension } from './isExtension.ts'
import type { RegistryFolders } from './registryFolder.ts'
import { nameRegistry, type RegistrySource, toNpmName } from './registrySource.ts'
import type { Candidate } from './resolution.ts'
import { tryNpmCandidate } from './resolveNpm.ts'
import type { ResolverDeps } from './resolverDeps.ts'

/**
 * All versions of an id in the first configured registry that has it, newest first; empty when none has. A registry that cannot be reached ends the search with its error:
 * what stands behind it must not take over the names in front.
 */
export async function listVersions(
  deps: ResolverDeps,
  folders: RegistryFolders,
  id: string,
  context: OperationContext,
): Promise<Candidate[]> {
  for (const registry of deps.registries()) {
    const found = await listIn(deps, folders, registry, id, context)
    if (found.length > 0) return found.sort((left, right) => semver.compareBuild(right.manifest.version, left.manifest.version))
  }
  return []
}

async function listIn(
  deps: ResolverDeps,
  folders: RegistryFolders,
  registry: RegistrySource,
  id: string,
  context: OperationContext,
): Promise<Candidate[]> {
  if (registry.kind === 'folder') {
    const { candidates, broken } = await folders.list(registry.path, context)
    const found = candidates.filter(({ manifest }) => manifest.id === id)
    const failed = broken.find(({ path }) => path.split('/').at(-1) === id)
    if (found.length === 0 && failed) throw failed.error
    return found
  }
  const name = toNpmName(id, registry.scope)
  const packument = await deps.remote.npm.packument(name, { registry: registry.url, whole: true }, context)
  const found = Object.values(packument?.versions ?? {}).flatMap((published) => {
    // A registry for everything holds much that only happens to have the name.
    const candidate = isExtension(published.packageJson) ? tryNpmCandidate(name, published) : undefined
    return candidate?.manifest.id === id ? [candidate] : []
  })
  // npm installs a generated project from its own configuration's registry: there the name may be another package.
  const reachable = isNpmRegistryOf(await deps.remote.readNpmConfig(), name, registry.url)
  const usable = found.filter(({ layout }) => reachable || layout === 'files')
  if (usable.length === 0 && found.length > 0) {
    throw new PkgdError('MANIFEST_MISSING', `${name} in ${nameRegistry(registry)} has no manifest, and npm would look for it elsewhere`, {
      hint: `set ${name.startsWith('@') ? `${name.split('/')[0]}:` : ''}registry=${registry.url} in ~/.npmrc, or add a "pkgd" key to its package.json`,
    })
  }
  return usable
}

/** The newest version of an id that satisfies a range. Errors: PACKAGE_NOT_FOUND (with the nearest id), VERSION_NOT_FOUND (with what there is). */
export async function resolveRegistry(
  deps: ResolverDeps,
  folders: RegistryFolders,
  wanted: { readonly id: string; readonly range: string },
  context: OperationContext,
): Promise<Candidate> {
  const { id, range } = wanted
  const versions = await listVersions(deps, folders, id, context)
  if (versions.length === 0) throw await notFound(deps, folders, id, context)
  const satisfying = versions.filter(({ manifest }) => semver.satisfies(manifest.version, range))
  // "Any" takes a pre-release where there is nothing else.
  const picked = satisfying[0] ?? (range === '*' ? versions[0] : undefined)
  if (picked) return picked
  const shown = versions.slice(0, 5).map(({ manifest }) => manifest.version)
  throw new PkgdError('VERSION_NOT_FOUND', `No version of "${id}" satisfies "${range}"`, { hint: `there are ${shown.join(', ')}` })
}

async function notFound(deps: ResolverDeps, folders: RegistryFolders, id: string, context: OperationContext): Promise<PkgdError> {
  const ids = new Set<string>()
  for (const registry of deps.registries()) {
    if (registry.kind !== 'folder') continue
    for (const { manifest } of (await folders.list(registry.path, context)).candidates) ids.add(manifest.id)
  }
  const [nearest] = [...ids]
    .filter((known) => distance(known, id) <= Math.max(2, id.length / 3))
    .sort((a, b) => distance(a, id) - distance(b, id) || (a < b ? -1 : 1))
  const asked = deps.registries().map(nameRegistry).join(', ')
  return new PkgdError(
    'PACKAGE_NOT_FOUND',
    asked === '' ? `No registry is configured to look "${id}" up in` : `There is no package "${id}" in ${asked}`,
    {
      hint: nearest
        ? `did you mean ${nearest}?`
        : `a folder is written ./${id}, a package of npm npm:${id}, one of PyPI pypi:${id}; or run: pkg search ${id}`,
    },
  )
}
