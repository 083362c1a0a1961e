import type { RpcId } from './rpc.ts'

/** What is known of a JSON-RPC message without parsing it. Offsets are of the id's value, in bytes from the message's start. */
export interface Envelope {
  readonly id: RpcId | undefined
  readonly idStart: number
  readonly idEnd: number
  /** It has a `method`: a request or a notification. */
  readonly hasMethod: boolean
}

export interface EnvelopeScanner {
  push(chunk: Uint8Array): void
  readonly envelope: Envelope
}

/** No id or key that matters is longer; what is captured stays this small whatever the message holds. */
const maxCaptured = 512

const quote = 0x22
const backslash = 0x5c
const [openBrace, closeBrace, openBracket, closeBracket, colon, comma] = [0x7b, 0x7d, 0x5b, 0x5d, 0x3a, 0x2c]

/** Finds the id of a JSON-RPC message of any size, fed in pieces split anywhere, in constant memory. Of several top-level ids the last counts, as in JSON.parse. */
export function createEnvelopeScanner(): EnvelopeScanner {
  let offset = 0
  let depth = 0
  let inString = false
  let escaped = false
  let awaitsKey = false
  let key = ''
  let captured: number[] | null = null
  let valueStart = 0
  let envelope: Envelope = { id: undefined, idStart: 0, idEnd: 0, hasMethod: false }

  const endValue = (end: number) => {
    if (key === 'id' && captured !== null) {
      const text = Buffer.from(captured).toString()
      const leading = text.length - text.trimStart().length
      const id = parseId(text)
      if (id !== undefined) {
        const start = valueStart + leading
        envelope = { ...envelope, id, idStart: start, idEnd: end - (text.length - text.trimEnd().length) }
      }
    }
    key = ''
    captured = null
  }

  /** A structural byte outside strings. */
  const structure = (byte: number, at: number) => {
    if (byte === openBrace || byte === openBracket) {
      depth++
      if (depth === 1) awaitsKey = byte === openBrace
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 1) endValue(at)
      depth--
    } else if (depth === 1 && byte === comma) {
      endValue(at)
      awaitsKey = true
    } else if (depth === 1 && byte === colon && awaitsKey) {
      key = Buffer.from(captured ?? []).toString()
      awaitsKey = false
      if (key === 'method') envelope = { ...envelope, hasMethod: true }
      captured = key === 'id' ? [] : null
      valueStart = at + 1
      return true
    }
    return false
  }

  /** The index of the quote that ends the string, or the chunk's length. What is inside does not matter, so it is not looked at byte by byte. */
  const skipString = (chunk: Uint8Array, from: number): number => {
    let start = escaped ? from + 1 : from
    escaped = false
    for (;;) {
      const found = chunk.indexOf(quote, start)
      const stop = found === -1 ? chunk.length : found
      let slashes = 0
      while (stop - slashes > start && chunk[stop - slashes - 1] === backslash) slashes++
      if (found === -1) {
        escaped = slashes % 2 === 1
        return stop
      }
      if (slashes % 2 === 0) return found
      start = found + 1
    }
  }

  /** One byte of a string that is captured: a key, or the id. */
  const stringByte = (byte: number) => {
    if (escaped) escaped = false
    else if (byte === backslash) escaped = true
    else if (byte === quote) inString = false
    const isKeysEnd = !inString && awaitsKey
    if (captured !== null && captured.length < maxCaptured && !isKeysEnd) captured.push(byte)
  }

  const plainByte = (byte: number, at: number) => {
    if (byte === quote) {
      inString = true
      if (depth === 1 && awaitsKey) {
        captured = []
        return
      }
    } else if (structure(byte, at)) return
    if (captured !== null && depth === 1 && !awaitsKey && captured.length < maxCaptured) captured.push(byte)
  }

  return {
    push(chunk) {
      for (let index = 0; index < chunk.length; index++) {
        const byte = chunk[index] ?? 0
        if (!inString) plainByte(byte, offset + index)
        else if (captured !== null && depth === 1) stringByte(byte)
        else {
          index = skipString(chunk, index)
          if (index < chunk.length) inString = false
        }
      }
      offset += chunk.length
    },
    get envelope() {
      return envelope
    },
  }
}

function parseId(text: string): RpcId | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' || typeof value === 'number' ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
