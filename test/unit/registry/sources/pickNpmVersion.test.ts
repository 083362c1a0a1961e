import { expect, test } from 'vitest'
import type { Packument } from '../../../../registry/fetch/npm/npmRegistry.ts'
import { pickNpmVersion } from '../../../../registry/fetch/npm/pickNpmVersion.ts'

const packument = (versions: string[], tags: Record<string, string> = {}, deprecated: string[] = []): Packument => ({
  name: 'a',
  tags,
  versions: Object.fromEntries(
    versions.map((version) => [
      version,
      {
        version,
        tarball: 'https://x.test/a.tgz',
        integrity: 'sha512-x',
        deprecated: deprecated.includes(version) ? 'old' : null,
        packageJson: {},
      },
    ]),
  ),
})

test.each<[string, Packument, string, string | undefined]>([
  ['a tag', packument(['1.0.0', '2.0.0-beta.1'], { latest: '1.0.0', next: '2.0.0-beta.1' }), 'next', '2.0.0-beta.1'],
  ['a tag that is none', packument(['1.0.0'], { latest: '1.0.0' }), 'next', undefined],
  ['a tag of a version that was taken back', packument(['1.0.0'], { latest: '9.0.0' }), 'latest', undefined],
  ['a name of Object', packument(['1.0.0']), 'constructor', undefined],
  ['an exact version', packument(['1.0.0', '1.1.0']), '1.0.0', '1.0.0'],
  ['an exact version with a v', packument(['1.0.0', '1.1.0']), 'v1.0.0', '1.0.0'],
  ['a range', packument(['1.0.0', '1.2.0', '1.10.0', '2.0.0']), '^1', '1.10.0'],
  ['latest within the range goes before higher ones', packument(['1.0.0', '1.1.0', '1.2.0'], { latest: '1.1.0' }), '^1', '1.1.0'],
  ['latest out of the range', packument(['1.0.0', '2.0.0'], { latest: '2.0.0' }), '^1', '1.0.0'],
  ['living before deprecated', packument(['1.0.0', '1.1.0'], {}, ['1.1.0']), '^1', '1.0.0'],
  ['all deprecated', packument(['1.0.0', '1.1.0'], {}, ['1.0.0', '1.1.0']), '^1', '1.1.0'],
  ['no pre-release unasked', packument(['1.0.0', '1.1.0-rc.1']), '*', '1.0.0'],
  ['only pre-releases: the tagged one', packument(['1.0.0-rc.1', '1.0.0-rc.2'], { latest: '1.0.0-rc.1' }), '*', '1.0.0-rc.1'],
  ['nothing satisfies', packument(['1.0.0']), '^2', undefined],
])('%s', (_, from, range, expected) => {
  expect(pickNpmVersion(from, range)?.version).toBe(expected)
})
