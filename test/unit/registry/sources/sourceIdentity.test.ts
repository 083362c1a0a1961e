import { expect, test } from 'vitest'
import type { Resolution } from '../../../../registry/resolve/resolution.ts'
import { toSourceIdentity } from '../../../../registry/resolve/sourceIdentity.ts'

const registries = [
  { kind: 'folder', path: '/registry' },
  { kind: 'npm', url: 'https://npm.example.com/', scope: null },
] as const
const folder = (path: string): Resolution => ({ kind: 'folder', path })
const archive = (path: string): Resolution => ({ kind: 'archive', path, integrity: 'sha512-a' })
const npm = (name: string, host = 'registry.npmjs.org', version = '1.0.0'): Resolution => ({
  kind: 'npm',
  name,
  version,
  tarball: `https://${host}/${name}/-/${name}-${version}.tgz`,
  integrity: 'sha512-a',
})
const pypi = (name: string, host = 'files.example.org'): Resolution => ({
  kind: 'pypi',
  name,
  version: '1.0.0',
  url: `https://${host}/aa/${name}-1.0.0-py3-none-any.whl`,
  integrity: 'sha256-a',
})
const git = (url: string): Resolution => ({ kind: 'git', url, commit: 'a'.repeat(40) })
const https = (url: string): Resolution => ({ kind: 'https', url, integrity: 'sha512-a' })

const isSame = (a: Resolution, b: Resolution, versions: readonly [string, string]) =>
  toSourceIdentity({ resolution: a, version: versions[0] }, registries) ===
  toSourceIdentity({ resolution: b, version: versions[1] }, registries)

test.each<[string, Resolution, Resolution]>([
  ['a folder', folder('/src/weather'), folder('/src/weather')],
  ['an archive beside the old one', archive('/dl/weather-1.0.0.tgz'), archive('/dl/weather-2.0.0.tgz')],
  ['an archive of the same name', archive('/dl/weather.tgz'), archive('/dl/weather.tgz')],
  ['a version of npm', npm('weather'), npm('weather', 'registry.npmjs.org', '2.0.0')],
  ['a name of PyPI, however it is written', pypi('My.Weather'), pypi('my-weather')],
  ['a repository', git('https://h/o/r.git'), git('https://h/o/r')],
  ['a release on the web', https('https://h/r/v1.0.0/weather-1.0.0.tgz'), https('https://h/r/v2.0.0/weather-2.0.0.tgz')],
  ['a registry folder', folder('/registry/weather/1.0.0'), archive('/registry/weather-2.0.0.tgz')],
])('another version of %s is of the same source', (_name, a, b) => {
  expect(isSame(a, b, ['1.0.0', '2.0.0'])).toBe(true)
})

test.each<[string, Resolution, Resolution]>([
  ['another folder', folder('/src/weather'), folder('/tmp/weather')],
  ['an archive elsewhere', archive('/dl/weather-1.0.0.tgz'), archive('/tmp/weather-2.0.0.tgz')],
  ['another name of npm', npm('weather'), npm('@evil/weather')],
  ['the same name of another registry', npm('weather'), npm('weather', 'npm.example.com')],
  ['a package of PyPI', npm('weather'), pypi('weather')],
  ['another repository', git('https://h/o/weather.git'), git('https://h/evil/weather.git')],
  ['another host', https('https://h/weather-1.0.0.tgz'), https('https://evil/weather-2.0.0.tgz')],
  ['a host whose address is like a version', https('https://11.0.0.1/weather.tgz'), https('https://12.0.0.1/weather.tgz')],
  ['a path that only has the version in a longer number', https('https://h/11.0.0/x.tgz'), https('https://h/12.0.0/x.tgz')],
  ['a folder beside the registry', folder('/registry/weather'), folder('/registry-of-evil/weather')],
])('%s is another source', (_name, a, b) => {
  expect(isSame(a, b, ['1.0.0', '2.0.0'])).toBe(false)
})
