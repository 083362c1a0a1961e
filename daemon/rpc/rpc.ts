import type { Duplex } from 'node:stream'

/** A JSON-RPC 2.0 message as it was read: parsed once, and the bytes it was parsed from for whoever relays it. */
export interface Frame {
  readonly message: RpcMessage
  /** The line without its newline. */
  readonly bytes: Buffer
}

export type RpcId = string | number

export type RpcMessage =
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly method: string; readonly params?: Record<string, unknown> }
  | { readonly jsonrpc: '2.0'; readonly method: string; readonly params?: Record<string, unknown> }
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly result: Record<string, unknown> }
  | { readonly jsonrpc: '2.0'; readonly id: RpcId | null; readonly error: RpcError }

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export interface RequestOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** Called for each `notifications/progress` of this request; each call restarts the timeout. */
  readonly onProgress?: (params: Record<string, unknown>) => void
}

/** Both directions of JSON-RPC over one channel of newline-delimited frames. */
export interface RpcPeer extends AsyncDisposable {
  /**
   * Resolves with the answer's frame (a result). Errors: UPSTREAM_ERROR with the RpcError as its cause's data, CALL_TIMEOUT and abort (a cancellation is
   * sent to the other side), FRAME_TOO_LARGE, PACKAGE_CRASHED when the channel ends.
   */
  request(method: string, params: Record<string, unknown> | undefined, options?: RequestOptions): Promise<Frame>
  notify(method: string, params?: Record<string, unknown>): Promise<void>
  /** The handler of requests from the other side; what it throws is answered as an error. Without one: method not found. */
  onRequest(
    handler: (method: string, params: Record<string, unknown> | undefined, signal: AbortSignal) => Promise<Record<string, unknown>>,
  ): void
  onNotification(handler: (method: string, params: Record<string, unknown> | undefined) => void): void
  /** Requests under way towards the package. */
  readonly pending: number
  /** Time (clock's ms) of the last frame that arrived. */
  readonly lastHeardAt: number
  /** Resolves when the channel has ended, with why. */
  readonly closed: Promise<Error>
}

export interface RpcPeerOptions {
  readonly channel: Duplex
  /** Prefix of this side's request ids: late answers to a former daemon's requests match nothing. */
  readonly idPrefix: string
  readonly maxFrameBytes: number
  /** True when a former daemon may have left half a line: a newline is written first and input up to the first newline is dropped. */
  readonly adopted: boolean
  /** How a cancelled request is told to the other side. */
  readonly cancelMethod: string
}
