/** The parts of a DNS message (RFC 1035) that a forwarder has to know. */
export interface Question {
  readonly id: number
  /** Lower case, without the final dot. */
  readonly name: string
  readonly type: number
  readonly class: number
  /** Where the question section ends. */
  readonly end: number
}

export const recordType = { A: 1, AAAA: 28 } as const
export const responseCode = { ok: 0, serverFailure: 2, nameUnknown: 3, refused: 5 } as const

const headerLength = 12

/** Reads a query with exactly one question; undefined for anything else: a response, another opcode, compression, a name too long. */
export function parseQuestion(message: Buffer): Question | undefined {
  if (message.length < headerLength) return undefined
  const flags = message.readUInt16BE(2)
  const isStandardQuery = (flags & 0xf800) === 0
  if (!isStandardQuery || message.readUInt16BE(4) !== 1) return undefined
  const labels: string[] = []
  let at = headerLength
  for (;;) {
    const length = message[at]
    if (length === undefined || length > 63) return undefined
    at += 1
    if (length === 0) break
    if (at + length > message.length || at + length - headerLength > 254) return undefined
    labels.push(message.toString('latin1', at, at + length).toLowerCase())
    at += length
  }
  if (at + 4 > message.length) return undefined
  return {
    id: message.readUInt16BE(0),
    name: labels.join('.'),
    type: message.readUInt16BE(at),
    class: message.readUInt16BE(at + 2),
    end: at + 4,
  }
}

/** A response to `query` with this code and these IPv4 addresses; additional records of the query are not repeated. */
export function toResponse(query: Buffer, question: Question, code: number, addresses: readonly string[] = []): Buffer {
  const head = Buffer.from(query.subarray(0, question.end))
  const recursionDesired = head.readUInt16BE(2) & 0x0100
  head.writeUInt16BE(0x8000 | recursionDesired | 0x0080 | code, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const answers = addresses.map((address) => {
    const record = Buffer.alloc(16)
    record.writeUInt16BE(0xc000 | headerLength, 0)
    record.writeUInt16BE(recordType.A, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(60, 6)
    record.writeUInt16BE(4, 10)
    record.set(address.split('.').map(Number), 12)
    return record
  })
  return Buffer.concat([head, ...answers])
}

/** The header and question of a reply, to compare with what was asked: undefined when it is no response to a single question. */
export function isResponseTo(reply: Buffer, query: Buffer, question: Question): boolean {
  if (reply.length < headerLength || (reply.readUInt16BE(2) & 0x8000) === 0) return false
  if (reply.readUInt16BE(0) !== query.readUInt16BE(0)) return false
  if (reply.readUInt16BE(4) === 0) return true
  const asked = query.toString('latin1', headerLength, question.end).toLowerCase()
  return reply.toString('latin1', headerLength, question.end).toLowerCase() === asked
}
