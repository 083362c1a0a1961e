import { readFileSync } from 'node:fs'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Problem } from '../daemon/api/schemas/common.ts'
import { fromErrorRecord } from '../daemon/core/errorRecord.ts'
import { PkgdError } from '../daemon/core/errors.ts'
import type { Home } from '../daemon/core/home.ts'
import { parseServerSentEvents } from './serverSentEvents.ts'

/** REST of the daemon. Every method rejects with a PkgdError: the problem the daemon answered, or DAEMON_UNREACHABLE. */
export interface Client {
  get<T>(path: string, options?: CallOptions): Promise<T>
  /** Every page of a list; `path` has its query already, if any. */
  list<T>(path: string, options?: CallOptions): Promise<T[]>
  post<T>(path: string, body?: unknown, options?: CallOptions): Promise<T>
  delete<T>(path: string, options?: CallOptions): Promise<T>
  /** Server-sent events' data, parsed, until the daemon ends the stream or the signal aborts. */
  stream<T>(path: string, options?: CallOptions): AsyncIterable<T>
}

export interface CallOptions {
  readonly signal?: AbortSignal
}

export interface ClientDeps {
  readonly home: Home
  /** `$PKGD_URL`, or undefined for the home's socket. */
  readonly url: string | undefined
  /** `$PKGD_TOKEN`, or undefined for the home's token file. */
  readonly token: string | undefined
  /** Called once when nothing answers at the home's socket; resolves when the daemon is up. Null: never start one. */
  readonly autostart: (() => Promise<void>) | null
}

/** Not imported: an ES import of node:http also loads what its WebSocket export stands for, which doubles a command's start. */
const toRequest = (url: string | undefined) => process.getBuiltinModule(url?.startsWith('https:') ? 'node:https' : 'node:http').request

export function createClient({ home, url, token, autostart }: ClientDeps): Client {
  if (url !== undefined && !/^https?:\/\//.test(URL.canParse(url) ? url : '')) {
    throw new PkgdError('USAGE', `PKGD_URL is ${url}: expected an address such as http://127.0.0.1:7433`)
  }
  const start = autostart
  let started = false

  const open = async (
    method: string,
    path: string,
    body: unknown,
    accept: string,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> => {
    try {
      return await send(method, path, body, accept, signal)
    } catch (error) {
      if (signal?.aborted || !isUnreachable(error)) throw error
      if (!wasNeverReached(error) && method !== 'GET') throw lost(error)
      if (url !== undefined || start === null || started) throw unreachable(url ?? home.socket, error)
      started = true
      await start()
      return send(method, path, body, accept, signal)
    }
  }

  const send = (method: string, path: string, body: unknown, accept: string, signal: AbortSignal | undefined): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const headers = {
        accept,
        authorization: `Bearer ${token ?? readToken(home)}`,
        ...(payload ? { 'content-type': 'application/json', 'content-length': payload.length } : {}),
      }
      const options = { method, headers, ...(signal ? { signal } : {}) }
      const outgoing: ClientRequest =
        url === undefined
          ? toRequest(url)({ ...options, socketPath: home.socket, path, host: 'localhost' }, resolve)
          : toRequest(url)(new URL(path, url), options, resolve)
      outgoing.on('error', reject)
      outgoing.end(payload)
    })

  const ask = async <T>(
    method: string,
    path: string,
    body: unknown,
    { signal }: CallOptions = {},
  ): Promise<{ body: T; next: string | null }> => {
    const response = await open(method, path, body, 'application/json', signal)
    const text = await readText(response)
    if ((response.statusCode ?? 500) >= 400) throw toError(response, text)
    return { body: (text === '' ? null : JSON.parse(text)) as T, next: nextPage(response) }
  }
  const call = async <T>(method: string, path: string, body: unknown, options?: CallOptions) =>
    (await ask<T>(method, path, body, options)).body

  return {
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    delete: (path, options) => call('DELETE', path, undefined, options),
    async list<T>(path: string, options?: CallOptions) {
      const all: T[] = []
      for (let next: string | null = path; next !== null; ) {
        const page: { body: T[]; next: string | null } = await ask<T[]>('GET', next, undefined, options)
        all.push(...page.body)
        next = page.next
      }
      return all
    },
    async *stream<T>(path: string, { signal }: CallOptions = {}) {
      const response = await open('GET', path, undefined, 'text/event-stream', signal)
      if ((response.statusCode ?? 500) >= 400) throw toError(response, await readText(response))
      try {
        for await (const event of parseServerSentEvents(response)) {
          if (event.event === 'error') throw fromProblem(JSON.parse(event.data) as Problem)
          // What is said about the stream, such as a gap in it, is none of its items.
          if (event.event !== 'message') continue
          yield JSON.parse(event.data) as T
        }
      } catch (error) {
        if (error instanceof PkgdError) throw error
        if (!signal?.aborted) throw lost(error)
      } finally {
        response.destroy()
      }
    },
  }
}

/** The token file is only there once a daemon has run; without it the daemon will say that a token is needed. */
function readToken(home: Home): string {
  try {
    return readFileSync(home.token, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer)
  } catch (error) {
    throw isUnreachable(error) ? lost(error) : error
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The next page of a list (RFC 8288), or null at its end. */
function nextPage(response: IncomingMessage): string | null {
  const link = [response.headers.link ?? []].flat().join(', ')
  return /<([^>]+)>;\s*rel="next"/.exec(link)?.[1] ?? null
}

function toError(response: IncomingMessage, text: string): PkgdError {
  if (!response.headers['content-type']?.startsWith('application/problem+json')) {
    return new PkgdError('DAEMON_UNREACHABLE', `Something that is not a pkgd daemon answered with HTTP ${response.statusCode}`)
  }
  return fromProblem(JSON.parse(text) as Problem)
}

const fromProblem = ({ detail, errors, ...problem }: Problem): PkgdError =>
  fromErrorRecord({ ...problem, message: detail, ...(errors === undefined ? {} : { issues: errors }) })

const unreachableCodes = new Set([
  'ENOENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EINVAL',
])

/** No connection was made, so nothing was asked: only then may a request that changes something be sent again. */
const wasNeverReached = (error: unknown) => (error as NodeJS.ErrnoException).syscall === 'connect'

const isUnreachable = (error: unknown) => unreachableCodes.has((error as NodeJS.ErrnoException).code ?? '')

function unreachable(where: string, cause: unknown): PkgdError {
  return new PkgdError('DAEMON_UNREACHABLE', `No daemon answers at ${where}`, { hint: 'pkg daemon start', cause })
}

function lost(cause: unknown): PkgdError {
  return new PkgdError('DAEMON_UNREACHABLE', 'The daemon went away before it answered; whether it did what was asked is not known', {
    hint: 'pkg list, or pkg jobs',
    cause,
  })
}
