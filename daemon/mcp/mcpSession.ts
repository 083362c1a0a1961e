import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client'
import { isObject } from '../rpc/parseMessage.ts'
import { type McpEra, protocolVersions } from './protocol.ts'

/** What was agreed with a running server. It is stored before the first call, so that the next daemon goes on without a handshake. */
export interface McpSession {
  readonly era: McpEra
  readonly version: string
  readonly capabilities: ServerCapabilities
  readonly serverInfo: Implementation | null
  readonly instructions: string | null
  /** Resources whose updates were asked for. */
  readonly subscriptions: readonly string[]
  /** Id of the `subscriptions/listen` request that is open at the server (modern era). */
  readonly listenId: string | null
}

/** A stored session, or undefined when it is none that this daemon can go on with. */
export function parseSession(stored: unknown): McpSession | undefined {
  if (!isObject(stored) || !isObject(stored.capabilities)) return undefined
  const { era, version, serverInfo, instructions, subscriptions, listenId } = stored
  if (era !== 'legacy' && era !== 'modern') return undefined
  if (typeof version !== 'string' || !protocolVersions[era].some((known) => known === version)) return undefined
  return {
    era,
    version,
    capabilities: stored.capabilities,
    serverInfo: parseImplementation(serverInfo),
    instructions: typeof instructions === 'string' ? instructions : null,
    subscriptions: Array.isArray(subscriptions) ? subscriptions.filter((uri) => typeof uri === 'string') : [],
    listenId: typeof listenId === 'string' ? listenId : null,
  }
}

/** Who a server says it is, or null when it does not say so properly: that alone is no reason to refuse it. */
export function parseImplementation(value: unknown): Implementation | null {
  if (!isObject(value) || typeof value.name !== 'string' || typeof value.version !== 'string') return null
  return { ...value, name: value.name, version: value.version }
}
