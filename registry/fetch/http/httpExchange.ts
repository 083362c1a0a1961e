import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

export interface HttpRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** After redirects. */
  readonly url: string
  /** Decoded. Must be read to its end or destroyed. */
  readonly body: Readable
}

/** How a registry is reached: what of npm's or pip's own configuration concerns the network. */
export interface NetworkOptions {
  /** A CA bundle trusted besides Node's own. */
  readonly caFile?: string | null
  /** Certificates (PEM) trusted besides Node's own. */
  readonly ca?: readonly string[]
  /** Instead of the environment's. */
  readonly proxy?: string | null
  readonly noProxy?: string | null
  /** Hosts whose certificate is not checked: the user's own choice, in npm's or pip's configuration. */
  readonly trustAnyCertificate?: boolean
}

export interface HttpClient {
  /** Any status is an answer. Errors: REGISTRY_UNREACHABLE, OPERATION_CANCELLED. */
  get(request: HttpRequest): Promise<HttpAnswer>
}
