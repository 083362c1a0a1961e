import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, PkgdError } from '../../../daemon/core/errors.ts'
import type { Clock, OperationContext } from '../../../daemon/core/ports.ts'
import { createIntegrityCheck } from '../../store/integrity.ts'
import type { HttpClient, HttpRequest } from './httpExchange.ts'
import { pruneFolder } from './pruneFolder.ts'
import { toRefusal, toUnreachable } from './toUnreachable.ts'

export interface DownloadRequest {
  readonly url: string
  /** SRI it must have, or null. */
  readonly integrity: string | null
  readonly authorization?: string
  /** What messages call it. */
  readonly name: string
}

export interface Downloaded {
  readonly file: string
  /** sha512 SRI. */
  readonly integrity: string
}

/**
 * Downloads archives into a cache by their integrity: what was downloaded once needs no network again. Integrity is checked while the bytes stream in, and before a cached file is given out.
 * Errors: INTEGRITY_MISMATCH, ARCHIVE_TOO_LARGE, SOURCE_NOT_FOUND, REGISTRY_UNREACHABLE, OPERATION_CANCELLED.
 */
export function createDownloads(deps: { readonly directory: string; readonly mostBytes: number; readonly clock: Clock }) {
  const { directory, mostBytes, clock } = deps
  const pathOf = (integrity: string) => join(directory, createHash('sha256').update(integrity).digest('hex'))

  const findCached = async (integrity: string, name: string): Promise<Downloaded | undefined> => {
    const file = pathOf(integrity)
    const check = createIntegrityCheck(integrity, name)
    try {
      for await (const chunk of createReadStream(file)) check.update(chunk as Buffer)
      const found = { file, integrity: check.finish() }
      await utimes(file, clock.now() / 1000, clock.now() / 1000)
      return found
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      if (!hasCode(error, 'INTEGRITY_MISMATCH')) throw error
      await rm(file, { force: true })
      return undefined
    }
  }

  const fetchAnew = async (http: HttpClient, request: DownloadRequest, context: OperationContext): Promise<Downloaded> => {
    const get: HttpRequest = {
      url: request.url,
      signal: context.signal,
      headers: { 'accept-encoding': 'identity', ...(request.authorization && { authorization: request.authorization }) },
    }
    const check = createIntegrityCheck(request.integrity, request.name)
    const answer = await http.get(get)
    if (answer.status !== 200) {
      answer.body.resume()
      if (answer.status === 404 || answer.status === 410) {
        throw new PkgdError('SOURCE_NOT_FOUND', `There is nothing at ${request.url} (${answer.status})`, { hint: 'check the address' })
      }
      throw toRefusal(answer)
    }
    const expected = Number(answer.headers['content-length'] ?? Number.NaN)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const temporary = join(directory, `new-${randomUUID()}`)
    const file = await open(temporary, 'wx', 0o600)
    try {
      let shown = 0
      const received = await receive(answer.body, get, async (chunk, size) => {
        if (size > mostBytes || expected > mostBytes) throw tooLarge(request.name, mostBytes)
        check.update(chunk)
        await file.writeFile(chunk)
        if (expected > 0 && size / expected >= shown + 0.02) {
          shown = Math.min(1, size / expected)
          context.progress({ stage: 'fetch', message: request.name, fraction: shown })
        }
      })
      if (expected !== received && !Number.isNaN(expected) && answer.headers['content-encoding'] === undefined) {
        throw toUnreachable(new Error(`the connection ended after ${received} of ${expected} bytes`), get)
      }
      const integrity = check.finish()
      const kept = pathOf(request.integrity ?? integrity)
      await rename(temporary, kept)
      await pruneFolder(directory, keepBytes, clock.now())
      return { file: kept, integrity }
    } catch (error) {
      answer.body.destroy()
      await rm(temporary, { force: true })
      throw error
    } finally {
      await file.close()
    }
  }

  return {
    async get(http: HttpClient, request: DownloadRequest, context: OperationContext): Promise<Downloaded> {
      const cached = request.integrity === null ? undefined : await findCached(request.integrity, request.name)
      return cached ?? fetchAnew(http, request, context)
    },
  }
}

/** What the cache may grow to. */
const keepBytes = 4 * 1024 ** 3

export type Downloads = ReturnType<typeof createDownloads>

async function receive(
  body: AsyncIterable<Buffer>,
  request: HttpRequest,
  take: (chunk: Buffer, size: number) => Promise<void>,
): Promise<number> {
  let size = 0
  const chunks = body[Symbol.asyncIterator]()
  for (;;) {
    const next = await chunks.next().catch((error: unknown) => {
      throw toUnreachable(error, request)
    })
    if (next.done) return size
    size += next.value.length
    await take(next.value, size)
  }
}

const tooLarge = (name: string, mostBytes: number): PkgdError =>
  new PkgdError('ARCHIVE_TOO_LARGE', `${name} is larger than ${mostBytes} bytes`, {
    hint: 'the operator can raise limits.archive in pkgd.yaml',
  })
