import type { Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createArgumentChecker } from '../../../../daemon/mcp/toolArguments.ts'
import { createMemoryLog } from '../manual.ts'

const tool = (inputSchema: Record<string, unknown>): Tool => ({ name: 'demo', inputSchema: { type: 'object', ...inputSchema } })
const check = (schema: Record<string, unknown>, args: Record<string, unknown>, log = createMemoryLog()) =>
  createArgumentChecker(() => log).check('pkg', tool(schema), args)

test.each<[string, Record<string, unknown>, Record<string, unknown>, [string, string][]]>([
  ['nothing wrong', { properties: { a: { type: 'string' } } }, { a: 'x' }, []],
  ['a missing one', { required: ['a'] }, {}, [['/a', 'is required']]],
  ['an unknown one', { properties: {}, additionalProperties: false }, { 'x/y~': 1 }, [['/x~1y~0', 'is not a known argument']]],
  ['a nested one', { properties: { a: { items: { type: 'number' } } } }, { a: [1, 'two'] }, [['/a/1', 'must be number']]],
  ['no choice', { properties: { u: { enum: ['C', 'F'] } } }, { u: 'K' }, [['/u', 'must be equal to one of the allowed values: "C", "F"']]],
  ['a format', { properties: { u: { type: 'string', format: 'uri' } } }, { u: 'no uri' }, [['/u', 'must match format "uri"']]],
  ['a pattern', { properties: { c: { type: 'string', pattern: '^[A-Z]{2}$' } } }, { c: 'de' }, [['/c', 'must match pattern "^[A-Z]{2}$"']]],
  [
    'draft-07 tuples',
    { $schema: 'http://json-schema.org/draft-07/schema#', properties: { t: { items: [{ type: 'number' }] } } },
    { t: ['x'] },
    [['/t/0', 'must be number']],
  ],
  ['2020-12 tuples', { properties: { t: { prefixItems: [{ type: 'number' }] } } }, { t: ['x'] }, [['/t/0', 'must be number']]],
  ['definitions', { $defs: { n: { type: 'number' } }, properties: { a: { $ref: '#/$defs/n' } } }, { a: 'x' }, [['/a', 'must be number']]],
  ['unknown keywords', { 'x-order': 3, properties: { a: { type: 'string', nice: true } } }, { a: 'x' }, []],
])('%s', (_name, schema, args, expected) => {
  expect(check(schema, args).map(({ pointer, message }) => [pointer, message])).toEqual(expected)
})

test('all problems at once', () => {
  expect(check({ required: ['a', 'b'], properties: { c: { type: 'number' } } }, { c: 'x' }).map(({ pointer }) => pointer)).toEqual([
    '/a',
    '/b',
    '/c',
  ])
})

test.each([
  ['a reference to elsewhere', { properties: { a: { $ref: 'https://example.com/schema.json' } } }],
  ['a broken type', { properties: { a: { type: 'strnig' } } }],
  ['a broken pattern', { properties: { a: { pattern: '(' } } }],
  ['a huge one', { description: 'x'.repeat(300_000) }],
])('a schema with %s is not enforced, which is logged once', (_name, schema) => {
  const log = createMemoryLog()
  const checker = createArgumentChecker(() => log)
  const broken = tool(schema)
  expect(checker.check('pkg', broken, { a: 1 })).toEqual([])
  expect(checker.check('pkg', broken, { a: 1 })).toEqual([])
  expect(log.lines).toHaveLength(1)
})

test('two tools may use the same $id', () => {
  const checker = createArgumentChecker(createMemoryLog)
  const schema = (type: string) => tool({ $id: 'https://example.com/same.json', properties: { a: { type } } })
  expect(checker.check('one', schema('string'), { a: 1 })).toHaveLength(1)
  expect(checker.check('two', schema('number'), { a: 1 })).toEqual([])
})

test('a pattern that backtracks without end does not hold up the daemon', () => {
  const schema = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  expect(check(schema, { a: `${'a'.repeat(40)}!` })).toEqual([])
  expect(check(schema, { a: 'b' })).toHaveLength(1)
})
