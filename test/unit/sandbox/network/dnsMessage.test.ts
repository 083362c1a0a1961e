import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isResponseTo, parseQuestion, responseCode, toResponse } from '../../../../sandbox/network/dnsMessage.ts'

const toQuery = (id: number, labels: readonly string[], type: number) => {
  const name = Buffer.concat([...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')])), Buffer.from([0])])
  const head = Buffer.alloc(12)
  head.writeUInt16BE(id, 0)
  head.writeUInt16BE(0x0100, 2)
  head.writeUInt16BE(1, 4)
  const tail = Buffer.alloc(4)
  tail.writeUInt16BE(type, 0)
  tail.writeUInt16BE(1, 2)
  return Buffer.concat([head, name, tail])
}

const labels = fc.array(fc.stringMatching(/^[a-z0-9-]{1,20}$/), { minLength: 1, maxLength: 8 })

describe('parseQuestion', () => {
  it('reads what a client writes', () => {
    fc.assert(
      fc.property(fc.nat({ max: 65535 }), labels, fc.nat({ max: 65535 }), (id, parts, type) => {
        expect(parseQuestion(toQuery(id, parts, type))).toMatchObject({ id, name: parts.join('.'), type, class: 1 })
      }),
    )
  })

  it('never throws, whatever comes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => void parseQuestion(Buffer.from(bytes))))
    fc.assert(
      fc.property(labels, fc.nat(), (parts, cut) => {
        const query = toQuery(1, parts, 1)
        expect(parseQuestion(query.subarray(0, cut % query.length))).toBeUndefined()
      }),
    )
  })

  it('refuses a response, two questions, another opcode and a compressed name', () => {
    const patched = (at: number, value: number) => {
      const query = toQuery(7, ['a', 'b'], 1)
      query.writeUInt16BE(value, at)
      return query
    }
    for (const query of [patched(2, 0x8100), patched(4, 2), patched(2, 0x2800), patched(12, 0xc00c)])
      expect(parseQuestion(query)).toBeUndefined()
  })
})

describe('toResponse', () => {
  it('answers the very question', () => {
    const query = toQuery(99, ['api', 'example'], 1)
    const question = parseQuestion(query)
    if (!question) throw new Error('the query is well formed')
    const reply = toResponse(query, question, responseCode.ok, ['192.0.2.1', '192.0.2.2'])
    expect(isResponseTo(reply, query, question)).toBe(true)
    expect(reply.readUInt16BE(6)).toBe(2)
    expect([...reply.subarray(-4)]).toEqual([192, 0, 2, 2])
  })

  it('is told from a response to another question or with another id', () => {
    const query = toQuery(99, ['api', 'example'], 1)
    const question = parseQuestion(query)
    const other = toQuery(99, ['bpi', 'example'], 1)
    const otherQuestion = parseQuestion(other)
    if (!question || !otherQuestion) throw new Error('the queries are well formed')
    expect(isResponseTo(toResponse(other, otherQuestion, responseCode.ok), query, question)).toBe(false)
    const forged = toResponse(query, question, responseCode.ok)
    forged.writeUInt16BE(98, 0)
    expect(isResponseTo(forged, query, question)).toBe(false)
    expect(isResponseTo(query, query, question)).toBe(false)
  })
})
