import type { Implementation } from '@modelcontextprotocol/client'
import { findCoded, PkgdError } from '../core/errors.ts'
import type { Clock, Logger } from '../core/ports.ts'
import type { HostContext } from '../lifecycle/packageHost.ts'
import type { FrameBudget } from '../rpc/frameBudget.ts'
import type { RpcPeer } from '../rpc/rpc.ts'
import { createRpcFailure, rpcCodes } from '../rpc/rpcFailure.ts'
import { createRpcPeer } from '../rpc/rpcPeer.ts'
import { proveSession, shakeHands } from './handshake.ts'
import { toHandshakeError } from './handshakeError.ts'
import { createMcpConnection, type McpConnection } from './mcpConnection.ts'
import { type McpSession, parseSession } from './mcpSession.ts'
import type { McpEra } from './protocol.ts'

export interface OpenConnectionDeps {
  readonly clock: Clock
  readonly clientInfo: Implementation
  /** Different in each life of the daemon: begins every request id. */
  readonly idPrefix: string
  readonly maxFrameBytes: number
  readonly budget: FrameBudget
}

export interface OpenConnectionOptions {
  readonly context: HostContext
  readonly era: McpEra | undefined
  /** The handshake's deadline. */
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Opens a package's stdio and agrees with its server, or goes on with the session that a former daemon had; what was agreed is saved. */
export async function openConnection(
  { clientInfo, ...peerOptions }: OpenConnectionDeps,
  { context, era, signal, log }: OpenConnectionOptions,
): Promise<McpConnection> {
  const { record } = context
  const peer = createRpcPeer({
    ...peerOptions,
    channel: await context.stdio(),
    name: record.id,
    adopted: context.session !== undefined,
    cancelMethod: 'notifications/cancelled',
    redactor: context.redactor,
    log,
  })
  peer.onRequest(answerServer)
  closeWith(peer, context)
  try {
    const session = await agree(peer)
    context.saveSession(session)
    return createMcpConnection({ record, peer, session, clientInfo })
  } catch (thrown) {
    const error = context.redactor.error(toHandshakeError(thrown, { name: record.id, signal, garbage: peer.garbage }))
    peer.close(error instanceof Error ? error : new Error(String(error)))
    throw error
  }

  async function agree(peer: RpcPeer): Promise<McpSession> {
    if (context.session === undefined) return shakeHands({ peer, name: record.id, clientInfo, era, signal })
    const session = parseSession(context.session)
    if (session === undefined) throw new PkgdError('PROTOCOL_ERROR', `The stored MCP session of ${record.id} cannot be read`)
    await proveSession(peer, session, clientInfo, signal)
    return session
  }
}

/** Fails all that is under way as soon as the sandbox is over: over named pipes there is no other sign of it. */
function closeWith(peer: RpcPeer, { record, signal }: HostContext): void {
  const onOver = () => {
    const crashed = new PkgdError('PACKAGE_CRASHED', `${record.id} ended`, { cause: signal.reason })
    peer.close(findCoded(signal.reason) ?? crashed)
  }
  signal.addEventListener('abort', onOver)
  void peer.closed.then(() => signal.removeEventListener('abort', onOver))
  if (signal.aborted) onOver()
}

/** What servers may ask of this client: whether it is there. All else needs a capability that was not claimed. */
async function answerServer(method: string): Promise<Record<string, unknown>> {
  if (method === 'ping') return {}
  throw createRpcFailure({ code: rpcCodes.methodNotFound, message: `This client does not offer ${method}` })
}
