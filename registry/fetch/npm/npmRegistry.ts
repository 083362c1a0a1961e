import { PkgdError } from '../../../daemon/core/errors.ts'
import type { OperationContext } from '../../../daemon/core/ports.ts'
import { recordOf } from '../../manifest/record.ts'
import type { HttpClient, NetworkOptions } from '../http/httpExchange.ts'
import type { MetadataCache } from '../http/metadataCache.ts'
import { type NpmConfig, pickNpmAuthorization, pickNpmRegistry, withSlash } from './npmConfig.ts'

/** What a registry says of a package, as far as a version is chosen by it. */
export interface Packument {
  readonly name: string
  readonly tags: Readonly<Record<string, string>>
  readonly versions: Readonly<Record<string, PublishedVersion>>
}

export interface PublishedVersion {
  readonly version: string
  readonly tarball: string
  /** SRI; an old package has a sha1. */
  readonly integrity: string
  readonly deprecated: string | null
  /** The version's package.json: all of it where the whole document was asked for, else what an installer needs. */
  readonly packageJson: Readonly<Record<string, unknown>>
}

const whole = 'application/json'
const abbreviated = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8'

/** A reader of npm-compatible registries: documents only, few and cached. npm's own libraries would cost the daemon more memory than all its work. */
export function createNpmRegistry(deps: {
  readonly readConfig: () => Promise<NpmConfig>
  readonly client: (network: NetworkOptions) => HttpClient
  readonly cache: MetadataCache
}) {
  const getJson = async (url: string, accept: string, context: OperationContext): Promise<unknown> => {
    const config = await deps.readConfig()
    const authorization = pickNpmAuthorization(config, url)
    const answer = await deps.cache.get(deps.client(config.network), {
      url,
      accept,
      signal: context.signal,
      ...(authorization && { authorization }),
      onStale: (message) => context.progress({ stage: 'plan', message }),
    })
    return answer && parse(answer.text, url)
  }

  const registryOf = async (name: string, registry?: string) =>
    registry === undefined ? pickNpmRegistry(await deps.readConfig(), name) : withSlash(registry)

  return {
    /** A package's versions; undefined when there is no such package. With `whole` each version's complete package.json is in it. */
    async packument(
      name: string,
      options: { readonly registry?: string; readonly whole?: boolean },
      context: OperationContext,
    ): Promise<Packument | undefined> {
      const url = new URL(escapeName(name), await registryOf(name, options.registry)).href
      const document = await getJson(url, options.whole ? whole : abbreviated, context)
      return document === undefined ? undefined : toPackument(name, document)
    },

    /** The complete package.json of one version or tag, or undefined where there is none or the registry answers only whole documents. */
    async manifest(
      name: string,
      version: string,
      options: { readonly registry?: string },
      context: OperationContext,
    ): Promise<PublishedVersion | undefined> {
      const url = new URL(`${escapeName(name)}/${encodeURIComponent(version)}`, await registryOf(name, options.registry)).href
      const document = await getJson(url, whole, context)
      return toPublished(document)
    },

    /** Raw rows of the registry's own search, or undefined where it has none. */
    async search(registry: string, text: string, size: number, context: OperationContext): Promise<readonly unknown[] | undefined> {
      const query = new URLSearchParams({ text, size: String(size) })
      const document = await getJson(new URL(`-/v1/search?${query}`, withSlash(registry)).href, whole, context)
      const rows = recordOf(document).objects
      return Array.isArray(rows) ? rows : undefined
    },
  }
}

export type NpmRegistry = ReturnType<typeof createNpmRegistry>

const escapeName = (name: string): string => (name.startsWith('@') ? `@${encodeURIComponent(name.slice(1))}` : encodeURIComponent(name))

function parse(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new PkgdError('REGISTRY_UNREACHABLE', `${new URL(url).host} answered with something that is not JSON`, {
      hint: 'check that registry in ~/.npmrc names an npm registry',
      cause: error,
    })
  }
}

function toPackument(name: string, document: unknown): Packument {
  const { versions, 'dist-tags': tags } = recordOf(document)
  const published = Object.entries(recordOf(versions)).flatMap(([version, packageJson]) => {
    const known = toPublished(packageJson)
    return known?.version === version ? [[version, known] as const] : []
  })
  const textTags = Object.entries(recordOf(tags)).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return { name, tags: Object.fromEntries(textTags), versions: Object.fromEntries(published) }
}

function toPublished(document: unknown): PublishedVersion | undefined {
  const packageJson = recordOf(document)
  const { version, deprecated } = packageJson
  const { tarball, integrity, shasum } = recordOf(packageJson.dist)
  const sri =
    typeof integrity === 'string'
      ? integrity
      : typeof shasum === 'string'
        ? `sha1-${Buffer.from(shasum, 'hex').toString('base64')}`
        : undefined
  if (typeof tarball !== 'string' || !URL.canParse(tarball) || sri === undefined || typeof version !== 'string') return undefined
  return { version, tarball, integrity: sri, deprecated: typeof deprecated === 'string' ? deprecated : null, packageJson }
}
