import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toCanonicalJson } from '../../../../daemon/core/canonicalJson.ts'

/** The same value with the keys of every object the other way round. */
const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, turned(inner)]),
  )
}

test('the order of keys does not show, and nothing is lost', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(toCanonicalJson(turned(value))).toBe(toCanonicalJson(value))
      expect(JSON.parse(toCanonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('the order of an array does', () => {
  expect(toCanonicalJson([1, 2])).not.toBe(toCanonicalJson([2, 1]))
})
