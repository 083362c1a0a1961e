import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findRepeatedKeys } from '../../../../registry/manifest/findRepeatedKeys.ts'

describe('keys that stand twice', () => {
  test.each<[string, string[]]>([
    ['{"id":"a","id":"b"}', ['/id']],
    ['{"a":{"b":1},"c":{"b":2}}', []],
    ['{"a":[{"b":1,"b":2},{"b":3},{"b":4,"x":[],"b":5}]}', ['/a/0/b', '/a/2/b']],
    ['{"a":"{\\"b\\":1,\\"b\\":2}, \\"a\\":","c":["a","a"]}', []],
    ['{"i\\u0064":1,"id":2,"id":3}', ['/id', '/id']],
    ['{"a/b":1,"a/b":2}', ['/a~1b']],
    ['{"__proto__":1,"__proto__":2}', ['/__proto__']],
    ['"text"', []],
  ])('%s: %j', (json, pointers) => expect(findRepeatedKeys(json).map(({ pointer }) => pointer)).toEqual(pointers))

  test('are in nothing that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 2), (json, space) => {
        expect(findRepeatedKeys(JSON.stringify(JSON.parse(json), null, space))).toEqual([])
      }),
    )
  })

  test('are found wherever one is put', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (record) => {
        const [key = ''] = Object.keys(record)
        const json = `${JSON.stringify([record]).slice(0, -2)},${JSON.stringify(key)}:0}]`
        expect(findRepeatedKeys(json)).toHaveLength(1)
      }),
    )
  })
})
