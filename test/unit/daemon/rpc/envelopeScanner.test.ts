import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEnvelopeScanner } from '../../../../daemon/rpc/envelopeScanner.ts'
import { rewriteFrameId } from '../../../../daemon/rpc/rewriteFrameId.ts'
import type { RpcMessage } from '../../../../daemon/rpc/rpc.ts'

const id = fc.oneof(fc.integer(), fc.string({ maxLength: 40 }))
const member = fc.tuple(fc.constantFrom('jsonrpc', 'result', 'params', 'x', 'i', 'method'), fc.jsonValue())
const spaces = fc.constantFrom('', ' ', '  \t')

/** A JSON object with an id among other members, written in any order and with any spacing. */
const written = fc
  .record({ id, before: fc.array(member, { maxLength: 3 }), after: fc.array(member, { maxLength: 3 }), space: spaces })
  .map(({ id, before, after, space }) => {
    const members = [...before, ['id', id] as const, ...after]
    const text = `{${space}${members.map(([key, value]) => `${JSON.stringify(key)}${space}:${space}${JSON.stringify(value)}${space}`).join(`,${space}`)}}`
    return { text, id, hasMethod: members.some(([key]) => key === 'method') }
  })

test('it finds the id and the method of any message, in pieces split anywhere', () => {
  fc.assert(
    fc.property(written, fc.integer({ min: 1, max: 9 }), ({ text, id, hasMethod }, size) => {
      const bytes = Buffer.from(text)
      const scanner = createEnvelopeScanner()
      for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size))
      const { envelope } = scanner
      expect(envelope.id).toEqual(id)
      expect(envelope.hasMethod).toBe(hasMethod)
      expect(JSON.parse(bytes.toString('utf8', envelope.idStart, envelope.idEnd))).toEqual(id)
    }),
  )
})

test.each([
  ['an id in a nested object', '{"result":{"id":1}}'],
  ['an id in an array', '{"result":[{"id":1}],"x":"\\"id\\":2"}'],
  ['an id as a value', '{"x":"id","y":3}'],
  ['an id that is null', '{"id":null,"error":{}}'],
  ['no message at all', 'garbage "id": 4 }{'],
  ['an array', '["id", 3]'],
])('%s is not the id of the message', (_name, text) => {
  const scanner = createEnvelopeScanner()
  scanner.push(Buffer.from(text))
  expect(scanner.envelope.id).toBeUndefined()
})

test('a rewritten frame is the same message with another id, whatever it holds', () => {
  fc.assert(
    fc.property(written, id, ({ text }, next) => {
      const message = JSON.parse(text) as RpcMessage & object
      const rewritten = JSON.parse(rewriteFrameId({ message, bytes: Buffer.from(text) }, next).toString()) as object
      expect(rewritten).toEqual({ ...message, id: next })
    }),
  )
})
