import { describe, expect, test } from 'vitest'
import { checkRuntimes } from '../../../../../daemon/install/runtimes/checkRuntimes.ts'
import { pickImage } from '../../../../../daemon/install/runtimes/pickImage.ts'
import type { Manifest } from '../../../../../registry/manifest/manifest.ts'
import { satisfiesPythonRange } from '../../../../../registry/manifest/pythonRange.ts'
import type { ImageRequest } from '../../../../../sandbox/sandboxDriver.ts'
import { manifestOf } from '../manifestFixture.ts'

const dependencies = (changes: Partial<Manifest['dependencies']>): Manifest['dependencies'] => ({
  pypi: [],
  npm: [],
  extensions: {},
  ...changes,
})
const running = (command: string): Manifest['entry'] => ({ ...manifestOf().entry, command })

test.each<[string, string, boolean]>([
  ['3.11.7', '>=3.11', true],
  ['3.11.7', '>=3.11,<3.13', true],
  ['3.13.0', '>=3.11,<3.13', false],
  ['3.11.0', '>3.11', false],
  ['3.12', '>3.11', true],
  ['3.11.7', '==3.11.*', true],
  ['3.12.7', '==3.11.*', false],
  ['3.11.0', '==3.11', true],
  ['3.11.7', '!=3.11.7', false],
  ['3.11.7', '!=3.10.*', true],
  ['3.11.7', '~=3.10', true],
  ['4.0.0', '~=3.10', false],
  ['3.11.7', '~=3.11.2', true],
  ['3.12.0', '~=3.11.2', false],
  ['3.11.7', '<=3.11.7', true],
  ['3.11.7', '===3.11.7', true],
  ['3.11.7', 'nonsense', false],
])('Python %s and %s: %s', (version, range, expected) => {
  expect(satisfiesPythonRange(version, range)).toBe(expected)
})

test.each<[string, Partial<Manifest>, ImageRequest]>([
  ['a node command', { entry: running('node') }, { runtime: 'node' }],
  ['a python command', { entry: running('python3.12') }, { runtime: 'python' }],
  [
    'another command with Python packages',
    { entry: running('uvicorn'), dependencies: dependencies({ pypi: ['uvicorn'] }) },
    { runtime: 'python' },
  ],
  ['another command with npm packages', { entry: running('sh'), dependencies: dependencies({ npm: ['zod'] }) }, { runtime: 'node' }],
  ['another command alone', { entry: running('sh') }, { runtime: 'node' }],
])('%s', (_name, changes, image) => {
  expect(pickImage(manifestOf(changes))).toEqual(image)
})

test('an image that the package names goes before its command', () => {
  expect(pickImage(manifestOf({ sandbox: { image: 'debian:12' } }))).toEqual({ reference: 'debian:12' })
})

describe('the runtime that a package needs', () => {
  const image = {
    id: 'x',
    request: { runtime: 'node' as const },
    origin: 'built' as const,
    runtimes: { node: '26.10.0', python: '3.11.7' },
  }
  const check = (changes: Partial<Manifest['dependencies']>, runtimes = image.runtimes as Record<string, string>) =>
    checkRuntimes(manifestOf({ dependencies: dependencies(changes) }), { ...image, runtimes })

  test('is found', () => {
    expect(() => check({ node: '>=20', python: '>=3.11' })).not.toThrow()
  })
  test('is refused by what was found', () => {
    expect(() => check({ node: '^20' })).toThrow(
      expect.objectContaining({ code: 'RUNTIME_UNSUPPORTED', message: 'weather needs node ^20, and the node runtime has 26.10.0' }),
    )
    expect(() => check({ python: '>=3.12' })).toThrow(expect.objectContaining({ code: 'RUNTIME_UNSUPPORTED' }))
  })
  test('that the image does not name is left to the start', () => {
    expect(() => check({ python: '>=3.12' }, {})).not.toThrow()
  })
})
