import type { IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { PkgdError } from '../../../daemon/core/errors.ts'
import type { HttpAnswer, HttpClient, HttpRequest, NetworkOptions } from './httpExchange.ts'
import { isCertificateError, readTrust } from './readTrust.ts'
import { toUnreachable } from './toUnreachable.ts'

// Not imported: an ES import of node:http also loads what its WebSocket export stands for, 12 MB that are never used.
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

const mostRedirects = 5
const idleMs = 30_000
const passing = new Set([408, 425, 429, 500, 502, 503, 504])

/** A client for GET over HTTP and HTTPS that honours the host's proxies and certificates, follows redirects without giving tokens away, and tries twice again. */
export function createHttpClient(options: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly network?: NetworkOptions
  readonly retryAfterMs?: readonly number[]
}): HttpClient {
  const { env, network = {}, retryAfterMs = [200, 1000] } = options
  const proxyEnv = toProxyEnv(env, network)
  const plain = new http.Agent({ keepAlive: true, proxyEnv })
  let system = false
  let secure: Agent | undefined

  // Read at the first use, and again after a failure: the user may have corrected the bundle.
  const secureAgent = async () => {
    secure ??= new https.Agent({
      keepAlive: true,
      proxyEnv,
      ...((await readTrust(env, network, { system })) ?? {}),
      ...(network.trustAnyCertificate && { rejectUnauthorized: false }),
    })
    return secure
  }

  const send = async (url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage> => {
    const isSecure = url.protocol === 'https:'
    const agent = isSecure ? await secureAgent() : plain
    return new Promise((resolve, reject) => {
      const request = (isSecure ? https : http).get(url, { agent, headers: { ...headers }, signal }, resolve)
      request.setTimeout(idleMs, () =>
        request.destroy(Object.assign(new Error(`nothing came for ${idleMs / 1000} s`), { code: 'ETIMEDOUT' })),
      )
      request.on('error', reject)
    })
  }

  const sendTrusting = async (url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage> => {
    try {
      return await send(url, headers, signal)
    } catch (error) {
      if (!isCertificateError(error)) throw error
      // A company's own authority is often only in the system's store, which takes long to read.
      system = true
      secure?.destroy()
      secure = undefined
      return send(url, headers, signal)
    }
  }

  const follow = async ({ url, headers = {}, signal }: HttpRequest): Promise<HttpAnswer> => {
    let at = new URL(url)
    let sent: Readonly<Record<string, string>> = { 'user-agent': 'pkgd', 'accept-encoding': 'gzip, br, deflate', ...headers }
    for (let hops = 0; ; hops++) {
      const message = await sendTrusting(at, sent, signal)
      const status = message.statusCode ?? 0
      const location = [301, 302, 303, 307, 308].includes(status) ? message.headers.location : undefined
      if (location === undefined) return { status, headers: message.headers, url: at.href, body: decode(message) }
      message.destroy()
      const next = new URL(location, at)
      if (hops === mostRedirects) throw refused(at, `redirects more than ${mostRedirects} times`)
      if (next.protocol !== 'https:' && !(next.protocol === 'http:' && at.protocol === 'http:'))
        throw refused(at, `redirects to ${next.protocol}`)
      if (next.origin !== at.origin) sent = withoutCredentials(sent)
      at = next
    }
  }

  const get = async (request: HttpRequest): Promise<HttpAnswer> => {
    for (let attempt = 0; ; attempt++) {
      const wait = retryAfterMs[attempt]
      try {
        const answer = await follow(request)
        if (wait === undefined || !passing.has(answer.status)) return answer
        answer.body.destroy()
      } catch (error) {
        if (wait === undefined || request.signal.aborted || isCertificateError(error)) throw toUnreachable(error, request)
      }
      await delay(wait, undefined, { signal: request.signal }).catch((error: unknown) => {
        throw toUnreachable(error, request)
      })
    }
  }

  return { get }
}

function toProxyEnv(env: Readonly<Record<string, string | undefined>>, network: NetworkOptions): Record<string, string | undefined> {
  const noProxy = network.noProxy ?? env.NO_PROXY ?? env.no_proxy
  const https = network.proxy ?? env.HTTPS_PROXY ?? env.https_proxy
  const plain = network.proxy ?? env.HTTP_PROXY ?? env.http_proxy
  return { ...(https && { HTTPS_PROXY: https }), ...(plain && { HTTP_PROXY: plain }), ...(noProxy && { NO_PROXY: noProxy }) }
}

const withoutCredentials = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !['authorization', 'cookie'].includes(name.toLowerCase())))

const refused = (at: URL, why: string): PkgdError =>
  new PkgdError('REGISTRY_UNREACHABLE', `${at.origin} ${why}; that is not followed`, { hint: 'use the address that it ends at' })

function decode(message: IncomingMessage): Readable {
  const decoder = pickDecoder(message.headers['content-encoding'])
  if (!decoder) return message
  message.on('error', (error) => decoder.destroy(error))
  decoder.on('close', () => message.destroy())
  return message.pipe(decoder)
}

function pickDecoder(encoding: string | undefined) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'deflate':
      return createInflate()
    default:
      return undefined
  }
}
