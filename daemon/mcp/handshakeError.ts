import { findCoded, PkgdError } from '../core/errors.ts'

export interface HandshakeFailure {
  readonly name: string
  /** The handshake's deadline. */
  readonly signal: AbortSignal
  /** What the package wrote to stdout instead of messages. */
  readonly garbage: { readonly lines: number; readonly first: string | undefined }
}

/** At the deadline it is HANDSHAKE_TIMEOUT, with what the package wrote instead of an answer; all other errors as they are. */
export function toHandshakeError(error: unknown, { name, signal, garbage }: HandshakeFailure): unknown {
  const reason = findCoded(signal.reason)
  const timedOut = signal.aborted && (reason === undefined || reason.code === 'HANDSHAKE_TIMEOUT')
  if (!timedOut) return error
  const hint =
    garbage.first === undefined
      ? 'it wrote nothing to stdout; does its command start an MCP server on stdio?'
      : `it wrote ${garbage.lines} lines to stdout that are no JSON-RPC, the first: ${garbage.first}`
  return new PkgdError('HANDSHAKE_TIMEOUT', reason?.message ?? `${name} did not answer the MCP handshake in time`, { hint, cause: error })
}
