import { PkgdError } from '../../../daemon/core/errors.ts'
import type { OperationContext } from '../../../daemon/core/ports.ts'
import { isRecord, recordOf } from '../../manifest/record.ts'
import type { HttpClient, NetworkOptions } from '../http/httpExchange.ts'
import type { Metadata, MetadataCache } from '../http/metadataCache.ts'
import { type IndexFile, toIntegrity } from './indexFile.ts'
import { parseSimpleHtml } from './simpleHtml.ts'
import { normalizeProjectName } from './wheel.ts'

/** Which indexes pip is told to ask, and how they are reached. URLs may hold credentials: never log them. */
export interface PipSources {
  readonly indexUrl: string
  readonly extraIndexUrls: readonly string[]
  /** A CA bundle's file. */
  readonly cert: string | null
  readonly proxy: string | null
  /** Hosts, with or without port, whose certificate is not checked. */
  readonly trustedHosts: readonly string[]
}

const accept = 'application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1'

/** A reader of the package indexes that pip is configured for. */
export function createPypiIndex(deps: {
  readonly readSources: () => Promise<PipSources>
  readonly client: (network: NetworkOptions) => HttpClient
  readonly cache: MetadataCache
}) {
  return {
    /** The files of a project in the first index that has it, or undefined when none has. Errors: REGISTRY_UNREACHABLE. */
    async files(name: string, context: OperationContext): Promise<readonly IndexFile[] | undefined> {
      const sources = await deps.readSources()
      for (const index of [sources.indexUrl, ...sources.extraIndexUrls]) {
        const base = new URL(index.endsWith('/') ? index : `${index}/`)
        const authorization = toAuthorization(base)
        base.username = ''
        base.password = ''
        const answer = await deps.cache.get(deps.client(toNetwork(sources, base)), {
          url: new URL(`${normalizeProjectName(name)}/`, base).href,
          accept,
          ...(authorization && { authorization }),
          signal: context.signal,
          onStale: (message) => context.progress({ stage: 'plan', message }),
        })
        const files = answer && toFiles(answer)
        if (files && files.length > 0) return files
      }
      return undefined
    },

    /** How a file that an index lists is reached. */
    async reach(url: string): Promise<{ readonly client: HttpClient; readonly authorization?: string }> {
      const sources = await deps.readSources()
      const at = new URL(url)
      const index = [sources.indexUrl, ...sources.extraIndexUrls].map((text) => new URL(text)).find(({ origin }) => origin === at.origin)
      const authorization = index && toAuthorization(index)
      return { client: deps.client(toNetwork(sources, at)), ...(authorization && { authorization }) }
    },
  }
}

export type PypiIndex = ReturnType<typeof createPypiIndex>

function toNetwork(sources: PipSources, at: URL): NetworkOptions {
  const trusted = sources.trustedHosts.some((host) => host === at.host || host === at.hostname)
  return { caFile: sources.cert, proxy: sources.proxy, ...(trusted && { trustAnyCertificate: true }) }
}

const toAuthorization = ({ username, password }: URL): string | undefined =>
  username === '' ? undefined : `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`

function toFiles(answer: Metadata): readonly IndexFile[] {
  if (!answer.contentType.includes('json')) return parseSimpleHtml(answer.text, answer.url)
  const { files } = recordOf(parse(answer))
  if (!Array.isArray(files)) return []
  return files.flatMap((file: unknown): IndexFile[] => {
    if (!isRecord(file) || typeof file.filename !== 'string' || typeof file.url !== 'string' || !URL.canParse(file.url, answer.url))
      return []
    return [
      {
        filename: file.filename,
        url: new URL(file.url, answer.url).href,
        integrity: toIntegrity(recordOf(file.hashes)),
        requiresPython: typeof file['requires-python'] === 'string' ? file['requires-python'] : null,
        // A reason stands for true, even an empty one.
        yanked: file.yanked === true || typeof file.yanked === 'string',
      },
    ]
  })
}

function parse(answer: Metadata): unknown {
  try {
    return JSON.parse(answer.text)
  } catch (error) {
    throw new PkgdError('REGISTRY_UNREACHABLE', `${new URL(answer.url).host} answered with something that is not JSON`, {
      hint: 'check index-url in pip.conf',
      cause: error,
    })
  }
}
