import { readFileSync } from 'node:fs'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Problem } from '../daemon/api/schemas/common.ts'
import { type ErrorCode, errorTable, PkgdError } from '../daemon/core/errors.ts'
import type { Home } from '../daemon/core/home.ts'
import { parseServerSentEvents } from './serverSentEvents.ts'

/** REST of the daemon. Every method rejects with a PkgdError: the problem the daemon answered, or DAEMON_UNREACHABLE. */
export interface Client {
  get<T>(path: string, options?: CallOptions): Promise<T>
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

  const call = async <T>(method: string, path: string, body: unknown, { signal }: CallOptions = {}): Promise<T> => {
    const response = await open(method, path, body, 'application/json', signal)
    const text = await readText(response)
    if ((response.statusCode ?? 500) >= 400) throw toError(response, text)
    return (text === '' ? null : JSON.parse(text)) as T
  }

  return {
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    delete: (path, options) => call('DELETE', path, undefined, options),
    async *stream<T>(path: string, { signal }: CallOptions = {}) {
      const response = await open('GET', path, undefined, 'text/event-stream', signal)
      if ((response.statusCode ?? 500) >= 400) throw toError(response, await readText(response))
      try {
        for await (const event of parseServerSentEvents(response)) yield JSON.parse(event.data) as T
      } catch (error) {
        if (!signal?.aborted) throw unreachable(url ?? home.socket, error)
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
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function toError(response: IncomingMessage, text: string): PkgdError {
  if (!response.headers['content-type']?.startsWith('application/problem+json')) {
    return new PkgdError('DAEMON_UNREACHABLE', `Something that is not a pkgd daemon answered with HTTP ${response.statusCode}`)
  }
  const problem = JSON.parse(text) as Problem
  const code = Object.hasOwn(errorTable, problem.code) ? (problem.code as ErrorCode) : 'INTERNAL'
  return new PkgdError(code, problem.detail, {
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    ...(problem.errors === undefined ? {} : { issues: problem.errors }),
  })
}

const unreachableCodes = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT'])

const isUnreachable = (error: unknown) => unreachableCodes.has((error as NodeJS.ErrnoException).code ?? '')

function unreachable(where: string, cause: unknown): PkgdError {
  return new PkgdError('DAEMON_UNREACHABLE', `No daemon answers at ${where}`, { hint: 'pkg daemon start', cause })
}
