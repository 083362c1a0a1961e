import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client'
import { hasCode, PkgdError } from '../core/errors.ts'
import { isObject } from '../rpc/parseMessage.ts'
import type { RequestOptions, RpcPeer } from '../rpc/rpc.ts'
import { findRpcError, rpcCodes } from '../rpc/rpcFailure.ts'
import { type McpSession, parseImplementation } from './mcpSession.ts'
import { clientCapabilities, type McpEra, mcpCodes, metaKeys, pickVersion, protocolVersions, toEnvelope } from './protocol.ts'

export interface HandshakeOptions {
  readonly peer: RpcPeer
  /** The package, for messages. */
  readonly name: string
  readonly clientInfo: Implementation
  /** What was learnt of this package version before. */
  readonly era: McpEra | undefined
  readonly signal: AbortSignal
}

/**
 * Agrees with a fresh server on how to speak, in the one process it has. Of an unknown era `initialize` comes first: some servers exit on any
 * other first request, and a server of the modern era alone answers it with an error. Errors: PROTOCOL_ERROR, and what the signal and the end of the
 * channel bring.
 */
export async function shakeHands(options: HandshakeOptions): Promise<McpSession> {
  const order = options.era === 'modern' ? [discover, initialize] : [initialize, discover]
  const refusals: string[] = []
  for (const attempt of order) {
    try {
      return await attempt(options)
    } catch (error) {
      if (!hasCode(error, 'UPSTREAM_ERROR')) throw error
      refusals.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new PkgdError('PROTOCOL_ERROR', `${options.name} refused the MCP handshake of both eras: ${refusals.join('; ')}`, {
    hint: 'the package must speak MCP on stdin and stdout',
  })
}

async function initialize(options: HandshakeOptions): Promise<McpSession> {
  const { peer, name } = options
  const result = await initializeWith(protocolVersions.legacy[0], options)
  const version = pickVersion(protocolVersions.legacy, [result.protocolVersion])
  if (version === undefined) {
    throw new PkgdError(
      'PROTOCOL_ERROR',
      `${name} speaks MCP ${JSON.stringify(result.protocolVersion)}, a revision that pkgd does not know`,
      {
        hint: `known are ${[...protocolVersions.modern, ...protocolVersions.legacy].join(', ')}`,
      },
    )
  }
  const session: McpSession = {
    era: 'legacy',
    version,
    capabilities: toCapabilities(result.capabilities, name),
    serverInfo: parseImplementation(result.serverInfo),
    instructions: typeof result.instructions === 'string' ? result.instructions : null,
    subscriptions: [],
    listenId: null,
  }
  peer.notify('notifications/initialized')
  return session
}

/** One attempt with the newest revision; a server that names others instead of negotiating is asked again with the newest of those. */
async function initializeWith(protocolVersion: string, options: HandshakeOptions): Promise<Record<string, unknown>> {
  const { peer, clientInfo, signal } = options
  const request = (version: string) =>
    peer.request('initialize', { protocolVersion: version, capabilities: clientCapabilities, clientInfo }, { signal, cancellable: false })
  try {
    return (await request(protocolVersion)).message.result
  } catch (error) {
    const other = pickVersion(protocolVersions.legacy, supportedVersions(error))
    if (other === undefined || other === protocolVersion) throw error
    return (await request(other)).message.result
  }
}

async function discover(options: HandshakeOptions): Promise<McpSession> {
  const { peer, name, clientInfo, signal } = options
  const request = async (version: string) =>
    (await peer.request('server/discover', { _meta: toEnvelope(version, clientInfo) }, { signal })).message.result
  let result: Record<string, unknown>
  try {
    result = await request(protocolVersions.modern[0])
  } catch (error) {
    const other = pickVersion(protocolVersions.modern, supportedVersions(error))
    if (other === undefined || other === protocolVersions.modern[0]) throw error
    result = await request(other)
  }
  const version = pickVersion(protocolVersions.modern, result.supportedVersions)
  if (version === undefined) {
    throw new PkgdError(
      'PROTOCOL_ERROR',
      `${name} offers no revision of MCP that pkgd knows: ${JSON.stringify(result.supportedVersions)}`,
      {
        hint: `known are ${[...protocolVersions.modern, ...protocolVersions.legacy].join(', ')}`,
      },
    )
  }
  const meta = isObject(result._meta) ? result._meta : {}
  return {
    era: 'modern',
    version,
    capabilities: toCapabilities(result.capabilities, name),
    serverInfo: parseImplementation(meta[metaKeys.serverInfo]),
    instructions: typeof result.instructions === 'string' ? result.instructions : null,
    subscriptions: [],
    listenId: null,
  }
}

/**
 * Proves that a server from a former daemon's time still has its session. Errors: PROTOCOL_ERROR when it has not, and what the signal and the
 * channel's end bring.
 */
export async function proveSession(peer: RpcPeer, session: McpSession, clientInfo: Implementation, signal: AbortSignal): Promise<void> {
  try {
    await askAlive(peer, session, clientInfo, { signal })
  } catch (error) {
    if (!hasCode(error, 'UPSTREAM_ERROR')) throw error
    throw new PkgdError('PROTOCOL_ERROR', 'The server no longer has the session of the former daemon', { cause: error })
  }
}

/** A ping; the modern era has none, there it is an uncached `server/discover`. A server that knows no ping, and says so, is alive. */
export async function askAlive(peer: RpcPeer, session: McpSession, clientInfo: Implementation, options: RequestOptions): Promise<void> {
  try {
    if (session.era === 'modern') await peer.request('server/discover', { _meta: toEnvelope(session.version, clientInfo) }, options)
    else await peer.request('ping', undefined, options)
  } catch (error) {
    if (findRpcError(error)?.code !== rpcCodes.methodNotFound) throw error
  }
}

/** The revisions that an error answer names: `data.supported` in both eras. */
function supportedVersions(error: unknown): unknown {
  const failure = findRpcError(error)
  if (failure?.code !== mcpCodes.unsupportedProtocolVersion && failure?.code !== rpcCodes.invalidParams) return undefined
  return isObject(failure.data) ? failure.data.supported : undefined
}

function toCapabilities(value: unknown, name: string): ServerCapabilities {
  if (isObject(value)) return value
  throw new PkgdError('PROTOCOL_ERROR', `${name} answered the MCP handshake without its capabilities`, {
    hint: 'the answer needs an object "capabilities"',
  })
}
