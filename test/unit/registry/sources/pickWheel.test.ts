import { expect, test } from 'vitest'
import type { IndexFile } from '../../../../registry/fetch/pypi/indexFile.ts'
import { pickWheel } from '../../../../registry/fetch/pypi/pickWheel.ts'
import { parseSimpleHtml } from '../../../../registry/fetch/pypi/simpleHtml.ts'
import { parseWheelName, rankWheel } from '../../../../registry/fetch/pypi/wheel.ts'

const sri = 'sha256-XAmaABxsp4JgvaQZ8umyqr7hrcT+bKVtiVmHGtjaWKE='
const file = (filename: string, fields: Partial<IndexFile> = {}): IndexFile => ({
  filename,
  url: `https://files.test/${filename}`,
  integrity: sri,
  requiresPython: null,
  yanked: false,
  ...fields,
})
const target = { minor: 11, arch: 'x64' }
const pick = (files: IndexFile[], range = '') => pickWheel('my-server', files, range, target)

test('the newest final version is taken, of its wheels the pure one', () => {
  const files = [
    file('my_server-1.9-py3-none-any.whl'),
    file('my_server-1.10-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl'),
    file('my_server-1.10-py3-none-any.whl'),
    file('my_server-2.0rc1-py3-none-any.whl'),
    file('my_server-1.10.tar.gz'),
  ]
  expect(pick(files).picked?.filename).toBe('my_server-1.10-py3-none-any.whl')
  expect(pick(files, '<1.10').picked?.version).toBe('1.9')
  expect(pick(files, '>=2.0rc1').picked?.version).toBe('2.0rc1')
  expect(pick(files, '>=2').picked).toBeUndefined()
  expect(pick(files).versions).toEqual(['2.0rc1', '1.10', '1.9'])
})

test('only pre-releases: then one of them', () => {
  expect(pick([file('my_server-1.0a1-py3-none-any.whl'), file('my_server-1.0b1-py3-none-any.whl')]).picked?.version).toBe('1.0b1')
})

test('yanked files are passed over unless named exactly', () => {
  const files = [file('my_server-1.0-py3-none-any.whl'), file('my_server-1.1-py3-none-any.whl', { yanked: true })]
  expect(pick(files).picked?.version).toBe('1.0')
  expect(pick(files, '==1.1').picked?.version).toBe('1.1')
  expect(pick(files, '==1.1.*').picked).toBeUndefined()
})

test('a wheel for another Python, machine or system is not taken, and that is said', () => {
  const files = [
    file('my_server-1.0-py3-none-any.whl'),
    file('my_server-2.0-cp311-cp311-win_amd64.whl'),
    file('my_server-2.1-cp312-cp312-manylinux_2_17_x86_64.whl'),
    file('my_server-2.2-cp311-cp311-manylinux_2_17_aarch64.whl'),
    file('my_server-2.3-py2-none-any.whl'),
    file('my_server-2.4-py3-none-any.whl', { requiresPython: '>=3.12' }),
    file('my_server-2.5.tar.gz'),
  ]
  expect(pick(files).picked?.version).toBe('1.0')
  expect(pick(files, '>=2').picked).toBeUndefined()
  expect(pick(files, '>=2').withoutWheel).toBe('2.5')
  expect(pickWheel('my-server', files, '==2.4', { minor: 12, arch: 'x64' }).picked?.version).toBe('2.4')
})

test("another project's file and one without a usable hash are no offers", () => {
  const files = [
    file('other-3.0-py3-none-any.whl'),
    file('my_server-2.0-py3-none-any.whl', { integrity: null }),
    file('My.Server-1.0-py3-none-any.whl'),
  ]
  expect(pick(files).picked?.version).toBe('1.0')
})

test.each<[string, { minor: number | null; arch: string }, boolean]>([
  ['a-1-py3-none-any.whl', { minor: 11, arch: 'x64' }, true],
  ['a-1-py2.py3-none-any.whl', { minor: 11, arch: 'x64' }, true],
  ['a-1-py312-none-any.whl', { minor: 11, arch: 'x64' }, false],
  ['a-1-cp39-abi3-manylinux_2_28_x86_64.whl', { minor: 11, arch: 'x64' }, true],
  ['a-1-cp39-cp39-manylinux_2_28_x86_64.whl', { minor: 11, arch: 'x64' }, false],
  ['a-1-cp39-cp39-manylinux_2_28_x86_64.whl', { minor: null, arch: 'x64' }, true],
  ['a-1-cp311-cp311-linux_aarch64.whl', { minor: 11, arch: 'arm64' }, true],
  ['a-1-cp311-cp311-musllinux_1_2_x86_64.whl', { minor: 11, arch: 'x64' }, false],
  ['a-1-1build-cp311-cp311-manylinux1_x86_64.whl', { minor: 11, arch: 'x64' }, true],
  ['a-1-pp39-pypy39_pp73-manylinux_2_28_x86_64.whl', { minor: 9, arch: 'x64' }, false],
])('%s on %o runs: %s', (filename, on, runs) => {
  const wheel = parseWheelName(filename)
  expect(wheel && rankWheel(wheel, on) !== undefined).toBe(runs)
})

test('an index that only speaks HTML', () => {
  const page = `<!DOCTYPE html><a href="../../f/my_server-1.0-py3-none-any.whl#sha256=${'ab'.repeat(32)}" data-requires-python="&gt;=3.10">my_server-1.0-py3-none-any.whl</a><br/>
    <a  data-yanked="" HREF='https://cdn.test/my_server-1.1-py3-none-any.whl#md5=00'>my_server-1.1-py3-none-any.whl</a> <a>nothing</a>`
  expect(parseSimpleHtml(page, 'https://index.test/simple/my-server/')).toEqual([
    {
      filename: 'my_server-1.0-py3-none-any.whl',
      url: 'https://index.test/f/my_server-1.0-py3-none-any.whl',
      integrity: `sha256-${Buffer.from('ab'.repeat(32), 'hex').toString('base64')}`,
      requiresPython: '>=3.10',
      yanked: false,
    },
    {
      filename: 'my_server-1.1-py3-none-any.whl',
      url: 'https://cdn.test/my_server-1.1-py3-none-any.whl',
      integrity: null,
      requiresPython: null,
      yanked: true,
    },
  ])
})
