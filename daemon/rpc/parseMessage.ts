import type { RpcError, RpcMessage } from './rpc.ts'

/** A line's JSON-RPC messages (several when it is a batch of protocol revision 2025-03-26), or undefined when it is none. */
export function parseMessages(line: Buffer): RpcMessage[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(line.toString())
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  const values = Array.isArray(value) ? value : [value]
  return values.length > 0 && values.every(isMessage) ? values : undefined
}

function isMessage(value: unknown): value is RpcMessage {
  if (!isObject(value) || value.jsonrpc !== '2.0') return false
  const hasId = typeof value.id === 'string' || typeof value.id === 'number'
  if (value.method !== undefined) {
    return typeof value.method === 'string' && (hasId || value.id === undefined) && (value.params === undefined || isObject(value.params))
  }
  if (value.error !== undefined) return isError(value.error) && (hasId || value.id === null || value.id === undefined)
  return hasId && isObject(value.result)
}

function isError(value: unknown): value is RpcError {
  return isObject(value) && typeof value.code === 'number' && typeof value.message === 'string'
}

/** A JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
