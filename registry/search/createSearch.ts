import { findCoded, hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { isNpmRegistryOf, type NpmConfig } from '../fetch/npm/npmConfig.ts'
import { toPackageId } from '../manifest/packageId.ts'
import { recordOf } from '../manifest/record.ts'
import { isExtension } from '../resolve/isExtension.ts'
import { createRegistryFolders, type RegistryFolders } from '../resolve/registryFolder.ts'
import { nameRegistry, type RegistrySource, toNpmName } from '../resolve/registrySource.ts'
import type { Candidate, SearchResult } from '../resolve/resolution.ts'
import type { ResolverDeps } from '../resolve/resolverDeps.ts'
import { toSpec } from '../resolve/toSpec.ts'
import { rankResults } from './rankResults.ts'

interface SearchAnswer {
  /** Best first; the same question on the same registries has the same answer. */
  readonly results: readonly SearchResult[]
  /** Registries that could not be searched, or only in part. */
  readonly failures: readonly { readonly registry: string; readonly message: string }[]
}

export type Search = (query: string, context: OperationContext) => Promise<SearchAnswer>

const rowsAsked = 50

/** Searches all configured registries at once. One that is out of reach hides nothing of the others: it is reported beside what they found. */
export function createSearch(deps: ResolverDeps): Search {
  const folders = createRegistryFolders(deps)
  return async (query, context) => {
    const registries = deps.registries()
    const answers = await Promise.all(registries.map((registry) => searchOne(deps, folders, registry, query, context)))
    return {
      results: rankResults(
        answers.flatMap((answer) => answer.results),
        query,
      ),
      failures: answers.flatMap((answer) => answer.failures),
    }
  }
}

async function searchOne(
  deps: ResolverDeps,
  folders: RegistryFolders,
  registry: RegistrySource,
  query: string,
  context: OperationContext,
): Promise<SearchAnswer> {
  const name = nameRegistry(registry)
  const fail = (error: unknown, what = name) => {
    if (hasCode(error, 'OPERATION_CANCELLED')) throw error
    return { registry: what, message: findCoded(error)?.message ?? (error instanceof Error ? error.message : String(error)) }
  }
  try {
    if (registry.kind === 'npm') {
      const rows = await searchNpm(deps, registry.url, query, context)
      const config = await deps.remote.readNpmConfig()
      return { results: rows.flatMap((row) => toNpmResult(row, registry, config)), failures: [] }
    }
    const { candidates, broken } = await folders.list(registry.path, context)
    return {
      results: candidates.filter((candidate) => matches(candidate, query)).map((candidate) => toFolderResult(candidate, name)),
      failures: broken.map(({ path, error }) => fail(error, path)),
    }
  } catch (error) {
    return { results: [], failures: [fail(error)] }
  }
}

/** Asks for the words among packages with our keywords, then among all: a registry that knows no `keywords:` still answers the second. */
async function searchNpm(deps: ResolverDeps, url: string, query: string, context: OperationContext): Promise<readonly unknown[]> {
  const questions = [`${query} keywords:mcp,mcp-server,modelcontextprotocol,pkgd`, query]
  const answers = await Promise.all(questions.map((question) => deps.remote.npm.search(url, question, rowsAsked, context)))
  if (answers.every((rows) => rows === undefined)) {
    throw new PkgdError('REGISTRY_UNREACHABLE', `${new URL(url).host} offers no search`)
  }
  return answers.flatMap((rows) => rows ?? [])
}

/** Every word of the query stands somewhere in what the package says of itself. */
function matches({ manifest }: Candidate, query: string): boolean {
  const said = [manifest.id, manifest.name, manifest.description ?? '', manifest.type, ...manifest.keywords].join(' ').toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word))
}

function toFolderResult({ manifest, resolution }: Candidate, registry: string): SearchResult {
  const { id, name, version, type, description = '' } = manifest
  const spec = resolution.kind === 'folder' || resolution.kind === 'archive' ? toSpec(resolution) : id
  return { id, name, version, type, description, spec, registry }
}

/** A row of npm's search that is plausibly an extension and can be installed: from the registry that npm itself would ask, or by its id. */
function toNpmResult(row: unknown, registry: RegistrySource & { kind: 'npm' }, config: NpmConfig): SearchResult[] {
  const found = recordOf(recordOf(row).package)
  const { name, version, description } = found
  if (typeof name !== 'string' || typeof version !== 'string' || !isExtension(found)) return []
  const id = toPackageId(name)
  if (id === undefined) return []
  const byName = isNpmRegistryOf(config, name, registry.url)
  if (!byName && toNpmName(id, registry.scope) !== name) return []
  return [
    {
      id,
      name,
      version,
      type: 'mcp-server',
      description: typeof description === 'string' ? description : '',
      spec: byName ? `npm:${name}@${version}` : `${id}@${version}`,
      registry: nameRegistry(registry),
    },
  ]
}
