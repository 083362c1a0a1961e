import type { Logger } from '../core/ports.ts'
import type { RequestHandler, RpcError, RpcId, RpcRequest } from './rpc.ts'
import { findRpcError, rpcCodes } from './rpcFailure.ts'

/** Answers the requests of the other side. */
export interface RequestServer {
  handle(request: RpcRequest): void
  /** True when a request of that id was under way. */
  cancel(id: RpcId): boolean
  setHandler(handler: RequestHandler): void
  cancelAll(reason: Error): void
}

export function createRequestServer(answer: (message: Record<string, unknown>) => void, log: Logger): RequestServer {
  let handler: RequestHandler | undefined
  const underWay = new Map<RpcId, AbortController>()

  const run = async ({ id, method, params }: RpcRequest, abort: AbortController): Promise<void> => {
    let outcome: { result: Record<string, unknown> } | { error: RpcError }
    try {
      outcome = handler
        ? { result: await handler(method, params, abort.signal) }
        : { error: { code: rpcCodes.methodNotFound, message: `Method not found: ${method}` } }
    } catch (error) {
      outcome = { error: toAnswer(error, method, log) }
    }
    if (underWay.get(id) === abort) underWay.delete(id)
    if (!abort.signal.aborted) answer({ jsonrpc: '2.0', id, ...outcome })
  }

  return {
    handle(request) {
      const abort = new AbortController()
      underWay.set(request.id, abort)
      void run(request, abort)
    },
    cancel(id) {
      const abort = underWay.get(id)
      abort?.abort()
      return abort !== undefined
    },
    setHandler(next) {
      handler = next
    },
    cancelAll(reason) {
      for (const abort of underWay.values()) abort.abort(reason)
      underWay.clear()
    },
  }
}

/** Only an RpcFailure speaks to the other side; anything else is the daemon's own affair and goes to the log. */
function toAnswer(error: unknown, method: string, log: Logger): RpcError {
  const failure = findRpcError(error)
  if (failure) return failure
  log.error('A request of the package could not be answered', { method, error: error instanceof Error ? error.message : String(error) })
  return { code: rpcCodes.internal, message: 'Internal error' }
}
