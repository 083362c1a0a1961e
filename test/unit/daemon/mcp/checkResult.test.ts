import { expect, test } from 'vitest'
import { type CallMethod, checkResult } from '../../../../daemon/mcp/checkResult.ts'

const good: [CallMethod, Record<string, unknown>][] = [
  ['tools/call', { content: [] }],
  ['tools/call', { content: [{ type: 'text', text: 'x' }, { type: 'one of tomorrow' }], isError: true, more: 1 }],
  ['resources/read', { contents: [{ uri: 'a:b', text: '' }] }],
  ['prompts/get', { messages: [{ role: 'user', content: {} }] }],
  ['completion/complete', { completion: { values: ['a'], total: 1 } }],
]
test.each(good)('%s: %j goes through as it came', (method, result) => {
  expect(checkResult('demo', method, result)).toBe(result)
})

test('structured content alone is a result without blocks', () => {
  expect(checkResult('demo', 'tools/call', { structuredContent: { n: 1 } })).toEqual({ content: [], structuredContent: { n: 1 } })
})

const bad: [CallMethod, Record<string, unknown>][] = [
  ['tools/call', { foo: 1 }],
  ['tools/call', {}],
  ['tools/call', { content: 'text' }],
  ['tools/call', { content: [null] }],
  ['tools/call', { content: [{ text: 'x' }] }],
  ['tools/call', { toolResult: 1, structuredContent: 'x' }],
  ['resources/read', { contents: [{ text: 'x' }] }],
  ['resources/read', { content: [] }],
  ['prompts/get', { messages: {} }],
  ['prompts/get', { messages: ['hi'] }],
  ['completion/complete', { completion: ['a'] }],
  ['completion/complete', { completion: { values: [1] } }],
]
test.each(bad)('%s: %j breaks the protocol', (method, result) => {
  expect(() => checkResult('demo', method, result)).toThrow(
    expect.objectContaining({ code: 'PROTOCOL_ERROR', message: expect.stringContaining(`demo answered ${method} `) }),
  )
})
