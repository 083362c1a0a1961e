import { execFileSync, spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { comparePythonVersions, parsePythonVersion, parseSpecifiers, satisfiesSpecifiers } from '../../../registry/manifest/pep440.ts'

const hasPip = spawnSync('python3', ['-c', 'import pip._vendor.packaging.specifiers']).status === 0
const reason = hasPip ? '' : ' [python3 with pip is not installed]'

/** pip's own reading of the same pairs. */
const program = `
import json, sys
from pip._vendor.packaging.version import Version
from pip._vendor.packaging.specifiers import SpecifierSet
rows = []
for left, right, operator in json.load(sys.stdin):
    a, b = Version(left), Version(right)
    try:
        contains = SpecifierSet(operator + right).contains(a, prereleases=True)
    except Exception:
        contains = None
    rows.append([(a > b) - (a < b), contains])
json.dump(rows, sys.stdout)
`

const number = fc.constantFrom(0, 1, 2, 10)
const part = (texts: string[]) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    fc.tuple(fc.constantFrom(...texts), number).map(([text, n]) => `${text}${n}`),
  )
const version = fc
  .tuple(
    fc.constantFrom('', '', '', '1!'),
    fc.array(number, { minLength: 1, maxLength: 3 }),
    part(['a', 'b', 'rc']),
    part(['.post']),
    part(['.dev']),
    fc.constantFrom('', '', '', '+l.1', '+2'),
  )
  .map(([epoch, release, pre, post, dev, local]) => `${epoch}${release.join('.')}${pre}${post}${dev}${local}`)
const operator = fc.constantFrom('==', '!=', '<=', '>=', '<', '>', '~=')

const countParts = (text: string) => parsePythonVersion(text)?.release.length ?? 0

describe.skipIf(!hasPip)(`the same as pip${reason}`, () => {
  test('order and specifiers of a few thousand random pairs', () => {
    const pairs = fc.sample(fc.tuple(version, version, operator), 4000)
    const theirs = JSON.parse(execFileSync('python3', ['-c', program], { input: JSON.stringify(pairs) }).toString()) as [
      number,
      boolean | null,
    ][]
    const ours = pairs.map(([left, right, sign]) => {
      const [a, b] = [parsePythonVersion(left), parsePythonVersion(right)]
      const clauses = parseSpecifiers(sign + right)
      if (!a || !b) throw new Error(`${left} or ${right} is no version`)
      return [Math.sign(comparePythonVersions(a, b)), clauses ? satisfiesSpecifiers(a, clauses) : null]
    })
    const different = pairs.flatMap((pair, index) => {
      const [their, our] = [theirs[index], ours[index]]
      // What is no specifier to us (a local version in an inequality) is deprecated or invalid to pip, by its age.
      // Older pips do not pad a shorter version with zeros before they compare its prefix, as PEP 440 says.
      if (pair[2] === '~=' && countParts(pair[0]) < countParts(pair[1])) return []
      const same = their?.[0] === our?.[0] && (our?.[1] === null || their?.[1] === our?.[1])
      return same ? [] : [{ pair, their, our }]
    })
    expect(different).toEqual([])
    expect(ours.filter(([, satisfied]) => satisfied !== null).length).toBeGreaterThan(1000)
  })
})
