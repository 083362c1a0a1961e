import { PkgdError } from '../core/errors.ts'
import type { RpcError } from './rpc.ts'

/** JSON-RPC's own error codes that are used here. */
export const rpcCodes = { invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602, internal: -32603 } as const

/** An error to be answered, or one that was the answer; `data` is the JSON-RPC error as it stands on the wire. */
export interface RpcFailure extends Error {
  readonly data: RpcError
}

export function createRpcFailure(error: RpcError): RpcFailure {
  return Object.assign(new Error(error.message), { data: error })
}

/** The other side's error answer as an error of pkgd's, the answer itself in its cause. */
export function toUpstreamError(name: string, method: string, error: RpcError): PkgdError {
  return new PkgdError('UPSTREAM_ERROR', `${name} answered ${method} with an error: ${error.message} (${error.code})`, {
    cause: createRpcFailure(error),
  })
}

/** The JSON-RPC error that stands behind an error, if one does. */
export function findRpcError(error: unknown): RpcError | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 16; at = at.cause, depth++) {
    const data = (at as { data?: unknown }).data
    if (typeof data === 'object' && data !== null && 'code' in data && typeof data.code === 'number' && 'message' in data) {
      return data as RpcError
    }
  }
  return undefined
}
