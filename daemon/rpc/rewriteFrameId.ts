import { createEnvelopeScanner } from './envelopeScanner.ts'
import type { Frame, RpcId } from './rpc.ts'

/** The frame's line with another id, made from its bytes: the message is neither parsed nor written again. The frame must have an id. */
export function rewriteFrameId(frame: Frame, id: RpcId): Buffer {
  const { start, end } = locateId(frame)
  return Buffer.concat([frame.bytes.subarray(0, start), Buffer.from(JSON.stringify(id)), frame.bytes.subarray(end)])
}

/** An id that stands in the bytes exactly once needs no scan. */
function locateId({ message, bytes }: Frame): { start: number; end: number } {
  if ('id' in message && typeof message.id === 'string') {
    const token = Buffer.from(JSON.stringify(message.id))
    const start = bytes.indexOf(token)
    if (start !== -1 && bytes.indexOf(token, start + 1) === -1) return { start, end: start + token.length }
  }
  const scanner = createEnvelopeScanner()
  scanner.push(bytes)
  return { start: scanner.envelope.idStart, end: scanner.envelope.idEnd }
}
