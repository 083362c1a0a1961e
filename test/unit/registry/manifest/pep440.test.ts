import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  comparePythonVersions,
  namesPrerelease,
  type PythonVersion,
  parsePythonVersion,
  parseSpecifiers,
  satisfiesSpecifiers,
} from '../../../../registry/manifest/pep440.ts'

const version = (text: string): PythonVersion => {
  const parsed = parsePythonVersion(text)
  if (!parsed) throw new Error(`${text} is no version`)
  return parsed
}

/** The order of the specification's own examples and of packaging's test suite. */
const ordered = [
  '1.dev0',
  '1.0.dev456',
  '1.0a1',
  '1.0a2.dev456',
  '1.0a12.dev456',
  '1.0a12',
  '1.0b1.dev456',
  '1.0b2',
  '1.0b2.post345.dev456',
  '1.0b2.post345',
  '1.0rc1.dev456',
  '1.0rc1',
  '1.0',
  '1.0+abc.5',
  '1.0+abc.7',
  '1.0+5',
  '1.0.post456.dev34',
  '1.0.post456',
  '1.0.15',
  '1.1.dev1',
  '1.10',
  '2013.10',
  '1!0.1',
]

test('versions are ordered as the specification orders them', () => {
  const shuffled = fc.sample(fc.shuffledSubarray(ordered, { minLength: ordered.length }), 20)
  for (const list of shuffled)
    expect(
      list
        .map(version)
        .sort(comparePythonVersions)
        .map(({ text }) => text),
    ).toEqual(ordered)
})

test.each([
  ['1.0', '1'],
  ['1.0', 'v1.0.0'],
  ['1.0rc1', '1.0c1'],
  ['1.0rc1', '1.0-preview_1'],
  ['1.0a0', '1.0.alpha'],
  ['1.0.post1', '1.0-1'],
  ['1.0.post0', '1.0.r'],
  ['1.0.dev0', '1.0dev'],
  ['1.0+ubuntu.1', '1.0+Ubuntu-1'],
])('%s and %s are the same version', (left, right) => {
  expect(comparePythonVersions(version(left), version(right))).toBe(0)
})

test.each(['', 'abc', '1.0-', '1.0+', '1..0', '1.0 beta', '1.0.post1.post2', 'latest'])('"%s" is no version', (text) => {
  expect(parsePythonVersion(text)).toBeUndefined()
})

test.each<[string, string, boolean]>([
  ['', '1.0', true],
  ['==1.0', '1.0.0', true],
  ['==1.0', '1.0+local', true],
  ['==1.0+local', '1.0', false],
  ['==1.0.*', '1.0.5', true],
  ['==1.0.*', '1.0rc1', true],
  ['==1.0.*', '1.1', false],
  ['==1.*', '1', true],
  ['!=1.0.*', '1.0.5', false],
  ['!=1.0', '1.0.1', true],
  ['===1.0', '1.0', true],
  ['===1.0', '1.0.0', false],
  ['~=2.2', '2.9', true],
  ['~=2.2', '3.0', false],
  ['~=2.2.0', '2.3', false],
  ['~=2.2.post3', '2.2', false],
  ['~=1.4.5a4', '1.4.9', true],
  ['>=1.0,<2', '1.9.9', true],
  ['>=1.0,<2', '2.0', false],
  ['<2', '2.0rc1', false],
  ['<2rc2', '2.0rc1', true],
  ['>1.7', '1.7.1', true],
  ['>1.7', '1.7.0.post1', false],
  ['>1.7.post1', '1.7.post2', true],
  ['>1.7', '1.7+local', false],
  ['>=1!0', '2013.10', false],
  ['<=1.0', '1.0+local', true],
])('"%s" with %s: %s', (specifiers, text, expected) => {
  expect(satisfiesSpecifiers(version(text), parseSpecifiers(specifiers) ?? [])).toBe(expected)
})

test.each(['1.0', '=>1', '~=1', '>=1.*', '==a', '>=', '>=1.0+local', '^1.0'])('"%s" is no specifier', (text) => {
  expect(parseSpecifiers(text)).toBeUndefined()
})

test('a pre-release is named by what asks for one, not by what excludes one', () => {
  const names = (text: string) => namesPrerelease(parseSpecifiers(text) ?? [])
  expect([names('>=1.0rc1'), names('==1.0.dev1'), names('!=1.0rc1'), names('>=1.0')]).toEqual([true, true, false, false])
})

test('property: the order is total, and < = > agree with it', () => {
  const any = fc.constantFrom(...ordered).map(version)
  fc.assert(
    fc.property(any, any, any, (a, b, c) => {
      expect(Math.sign(comparePythonVersions(a, b))).toBe(-Math.sign(comparePythonVersions(b, a)) + 0)
      if (comparePythonVersions(a, b) <= 0 && comparePythonVersions(b, c) <= 0) expect(comparePythonVersions(a, c)).toBeLessThanOrEqual(0)
      if (satisfiesSpecifiers(a, parseSpecifiers(`<${b.text.replace(/\+.*/, '')}`) ?? []))
        expect(comparePythonVersions(a, b)).toBeLessThan(0)
    }),
  )
})
