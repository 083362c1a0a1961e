import type { Implementation } from '@modelcontextprotocol/client'

/** `legacy`: a session begun by `initialize`, up to 2025-11-25. `modern`: stateless requests that carry their own envelope, from 2026-07-28 on. */
export type McpEra = 'legacy' | 'modern'

/** Revisions of the MCP specification spoken here, newest first. */
export const protocolVersions = {
  legacy: ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'],
  modern: ['2026-07-28'],
} as const satisfies Record<McpEra, readonly string[]>

/** Reserved `_meta` keys of revision 2026-07-28. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const

/** Error codes of MCP besides those of JSON-RPC. */
export const mcpCodes = {
  /** Of the legacy era; since 2026-07-28 it is -32602. */
  resourceNotFound: -32002,
  unsupportedProtocolVersion: -32022,
} as const

/** What this client offers to servers: sampling, elicitation and roots need someone downstream to pass them on to, so none is claimed. */
export const clientCapabilities = {} as const

/** The `_meta` that each request of the modern era carries. */
export function toEnvelope(version: string, clientInfo: Implementation): Record<string, unknown> {
  return {
    [metaKeys.protocolVersion]: version,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: clientCapabilities,
  }
}

/** The newest of `known` that is among `offered`. */
export function pickVersion(known: readonly string[], offered: unknown): string | undefined {
  return Array.isArray(offered) ? known.find((version) => offered.includes(version)) : undefined
}
