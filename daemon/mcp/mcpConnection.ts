import type { Implementation } from '@modelcontextprotocol/client'
import { isObject } from '../rpc/parseMessage.ts'
import type { Frame, RequestOptions, RpcPeer, RpcResult } from '../rpc/rpc.ts'
import type { PackageRecord } from '../store/state.ts'
import type { McpSession } from './mcpSession.ts'
import { toEnvelope } from './protocol.ts'

/** A running server and what was agreed with it. */
export interface McpConnection {
  readonly record: PackageRecord
  readonly peer: RpcPeer
  readonly session: McpSession
  /** As the peer's `request`; in the modern era the envelope is added to the params. */
  request(method: string, params?: Record<string, unknown>, options?: RequestOptions): Promise<Frame<RpcResult>>
  /** Requests made here that are under way: probes and subscriptions, which go to the peer, do not count. */
  readonly underWay: number
}

/** What listing needs of a connection. */
export interface ListedConnection extends Pick<McpConnection, 'session' | 'request'> {
  readonly record: Pick<PackageRecord, 'id' | 'tree'>
}

interface McpConnectionOptions {
  readonly record: PackageRecord
  readonly peer: RpcPeer
  readonly session: McpSession
  readonly clientInfo: Implementation
}

export function createMcpConnection({ record, peer, session, clientInfo }: McpConnectionOptions): McpConnection {
  const envelope = session.era === 'modern' ? toEnvelope(session.version, clientInfo) : undefined
  let underWay = 0
  return {
    record,
    peer,
    session,
    async request(method, params, options) {
      underWay++
      try {
        return await peer.request(method, envelope ? withMeta(params, envelope) : params, options)
      } finally {
        underWay--
      }
    },
    get underWay() {
      return underWay
    },
  }
}

/** The params with more in their `_meta`. */
export function withMeta(params: Record<string, unknown> | undefined, more: Record<string, unknown>): Record<string, unknown> {
  return { ...params, _meta: { ...(isObject(params?._meta) ? params._meta : {}), ...more } }
}
