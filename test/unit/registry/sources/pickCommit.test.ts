import { expect, test } from 'vitest'
import { pickCommit } from '../../../../registry/fetch/git/resolveCommit.ts'

const [head, branch, tag, peeled] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(40))
const output = [
  `${head}\tHEAD`,
  `${head}\trefs/heads/main`,
  `${branch}\trefs/heads/v1`,
  `${tag}\trefs/tags/v1`,
  `${peeled}\trefs/tags/v1^{}`,
  `${tag}\trefs/tags/light`,
  'nonsense\trefs/tags/bad',
  '',
].join('\n')

test.each<[string | null, string | undefined]>([
  [null, head],
  ['main', head],
  ['v1', peeled],
  ['light', tag],
  ['refs/heads/v1', branch],
  ['bad', undefined],
  ['nope', undefined],
])('%s is %s', (ref, expected) => {
  expect(pickCommit(output, ref)).toBe(expected)
})
