import type { Duplex } from 'node:stream'
import type { Clock, Logger } from '../core/ports.ts'
import type { Redactor } from '../core/redactor.ts'
import type { FrameBudget } from './frameBudget.ts'

/** A JSON-RPC 2.0 message as it was read: parsed once, and the bytes it was parsed from for whoever relays it. */
export interface Frame<Message extends RpcMessage = RpcMessage> {
  readonly message: Message
  /** The line without its newline. */
  readonly bytes: Buffer
}

export type RpcId = string | number

export type RpcMessage = RpcRequest | RpcNotification | RpcResult | RpcFailed

export interface RpcRequest {
  readonly jsonrpc: '2.0'
  readonly id: RpcId
  readonly method: string
  readonly params?: Record<string, unknown>
}

interface RpcNotification {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params?: Record<string, unknown>
}

export interface RpcResult {
  readonly jsonrpc: '2.0'
  readonly id: RpcId
  readonly result: Record<string, unknown>
}

interface RpcFailed {
  readonly jsonrpc: '2.0'
  readonly id?: RpcId | null
  readonly error: RpcError
}

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
  /** Whether the other side is told when the request is given up; true by default. MCP's `initialize` must not be cancelled. */
  readonly cancellable?: boolean
  /** Called with the request's id, under which notifications may refer to it, before it is sent. */
  readonly onId?: (id: string) => void
}

/** Answers a request of the other side. The signal is aborted when that side cancels it, or when the channel ends. */
export type RequestHandler = (
  method: string,
  params: Record<string, unknown> | undefined,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>

export type NotificationHandler = (method: string, params: Record<string, unknown> | undefined, frame: Frame) => void

/** Both directions of JSON-RPC over one channel of newline-delimited frames. */
export interface RpcPeer extends AsyncDisposable {
  /**
   * Resolves with the answer's frame (a result). Errors: UPSTREAM_ERROR with the RpcError as its cause's data, CALL_TIMEOUT and abort (a cancellation is
   * sent to the other side), FRAME_TOO_LARGE, PACKAGE_CRASHED when the channel ends.
   */
  request(method: string, params: Record<string, unknown> | undefined, options?: RequestOptions): Promise<Frame<RpcResult>>
  notify(method: string, params?: Record<string, unknown>): void
  /** The handler of requests from the other side; an `RpcFailure` it throws is answered as it is, all else as an internal error. Without one: method not found. */
  onRequest(handler: RequestHandler): void
  onNotification(handler: NotificationHandler): void
  /** Requests under way towards the package. */
  readonly pending: number
  /** Time (clock's ms) of the last frame that arrived. */
  readonly lastHeardAt: number
  /** Lines that were no JSON-RPC: how many, and the beginning of the first. */
  readonly garbage: { readonly lines: number; readonly first: string | undefined }
  /** Fails every request under way with `reason` and lets go of the channel. */
  close(reason: Error): void
  /** Resolves when the channel has ended, with why. */
  readonly closed: Promise<Error>
}

export interface RpcPeerOptions {
  readonly channel: Duplex
  /** Who is on the other side, for messages: a package's id. */
  readonly name: string
  /** Prefix of this side's request ids: late answers to a former daemon's requests match nothing. */
  readonly idPrefix: string
  readonly maxFrameBytes: number
  /** Shared by all peers of the daemon. */
  readonly budget: FrameBudget
  /**
   * True when a former daemon may have left half a line on either side: a newline is written first, and what comes in up to the first newline is
   * dropped unless it is a whole message (the rest of a cut line never is: its last bracket has no beginning).
   */
  readonly adopted: boolean
  /** How a cancelled request is told to the other side. */
  readonly cancelMethod: string
  /** What the other side says beside its results passes through it before it is logged or becomes an error. */
  readonly redactor: Redactor
  readonly clock: Clock
  readonly log: Logger
}
