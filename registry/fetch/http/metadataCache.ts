import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, PkgdError } from '../../../daemon/core/errors.ts'
import type { Clock } from '../../../daemon/core/ports.ts'
import type { HttpClient } from './httpExchange.ts'
import { pruneFolder } from './pruneFolder.ts'
import { readBody } from './readBody.ts'
import { toRefusal } from './toUnreachable.ts'

export interface MetadataRequest {
  readonly url: string
  readonly accept: string
  /** Credentials; never written to disk. */
  readonly authorization?: string
  readonly signal: AbortSignal
  /** Called when the registry is out of reach and an earlier answer is used instead. */
  readonly onStale: (message: string) => void
}

export interface Metadata {
  readonly text: string
  readonly contentType: string
  /** After redirects: relative links in the text are relative to it. */
  readonly url: string
}

interface Kept extends Metadata {
  readonly etag: string | null
  readonly lastModified: string | null
  /** Milliseconds since the epoch. */
  readonly freshUntil: number
}

const mostBytes = 64 * 1024 * 1024
/** What the cache may grow to. */
const keepBytes = 256 * 1024 * 1024
const longestFreshMs = 5 * 60_000

/**
 * Answers of package indexes, kept on disk: asked again with their validators once they are no longer fresh, and used as they are when the index is out of reach.
 * `get` resolves with undefined for "no such thing" (404, 410). Errors: REGISTRY_UNREACHABLE, OPERATION_CANCELLED.
 */
export function createMetadataCache(deps: { readonly directory: string; readonly clock: Clock }) {
  const { directory, clock } = deps

  const pathOf = (request: MetadataRequest) => {
    // An answer for one identity is none for another.
    const key = JSON.stringify([request.url, request.accept, request.authorization ?? null])
    return join(directory, `${createHash('sha256').update(key).digest('hex')}.json`)
  }

  const fetchAnew = async (http: HttpClient, request: MetadataRequest, kept: Kept | undefined): Promise<Metadata | undefined> => {
    const answer = await http.get({
      url: request.url,
      signal: request.signal,
      headers: {
        accept: request.accept,
        ...(request.authorization && { authorization: request.authorization }),
        ...(kept?.etag && { 'if-none-match': kept.etag }),
        ...(kept?.lastModified && { 'if-modified-since': kept.lastModified }),
      },
    })
    const { status, headers, body } = answer
    const freshUntil = clock.now() + toFreshMs(headers['cache-control'])
    if (status === 304 && kept) {
      body.resume()
      await keep(pathOf(request), { ...kept, freshUntil })
      return kept
    }
    if (status === 404 || status === 410) {
      body.resume()
      return undefined
    }
    if (status !== 200) {
      body.resume()
      throw toRefusal(answer)
    }
    const fresh: Kept = {
      url: answer.url,
      contentType: headers['content-type'] ?? '',
      etag: headers.etag ?? null,
      lastModified: headers['last-modified'] ?? null,
      freshUntil,
      text: await readBody(body, mostBytes, request),
    }
    await keep(pathOf(request), fresh)
    return fresh
  }

  const keep = async (path: string, answer: Kept) => {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const { text, ...head } = answer
    const temporary = `${path}.${randomUUID()}`
    await writeFile(temporary, `${JSON.stringify(head)}\n${text}`, { mode: 0o600 })
    await rename(temporary, path)
    await pruneFolder(directory, keepBytes, clock.now())
  }

  return {
    async get(http: HttpClient, request: MetadataRequest): Promise<Metadata | undefined> {
      const kept = await readKept(pathOf(request))
      if (kept && kept.freshUntil > clock.now()) return kept
      try {
        return await fetchAnew(http, request, kept)
      } catch (error) {
        if (!kept || !hasCode(error, 'REGISTRY_UNREACHABLE')) throw error
        request.onStale(`${error instanceof PkgdError ? error.message : 'The registry cannot be reached'}; using what it answered before`)
        return kept
      }
    },
  }
}

export type MetadataCache = ReturnType<typeof createMetadataCache>

async function readKept(path: string): Promise<Kept | undefined> {
  try {
    const content = await readFile(path, 'utf8')
    const end = content.indexOf('\n')
    return { ...(JSON.parse(content.slice(0, end)) as Omit<Kept, 'text'>), text: content.slice(end + 1) }
  } catch (error) {
    // A cache that cannot be read is a cache that is empty.
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined
    throw error
  }
}

function toFreshMs(cacheControl: string | undefined): number {
  if (!cacheControl || /no-store|no-cache/.test(cacheControl)) return 0
  const seconds = Number(/max-age=(\d+)/.exec(cacheControl)?.[1] ?? 0)
  return Math.min(seconds * 1000, longestFreshMs)
}
