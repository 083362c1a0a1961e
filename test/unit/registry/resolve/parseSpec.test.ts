import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findCoded } from '../../../../daemon/core/errors.ts'
import { isPackageId } from '../../../../registry/manifest/packageId.ts'
import { parseSpec } from '../../../../registry/resolve/parseSpec.ts'
import type { Source } from '../../../../registry/resolve/resolution.ts'
import { toSpec } from '../../../../registry/resolve/toSpec.ts'

const sri = `sha512-${createHash('sha512').update('x').digest('base64')}`

describe('parseSpec', () => {
  it.each<[string, Source]>([
    ['./weather', { kind: 'folder', path: '/cwd/weather' }],
    ['../weather/', { kind: 'folder', path: '/weather' }],
    ['.', { kind: 'folder', path: '/cwd' }],
    ['..', { kind: 'folder', path: '/' }],
    ['/abs/./x', { kind: 'folder', path: '/abs/x' }],
    [' ./a b ', { kind: 'folder', path: '/cwd/a b' }],
    ['file:../x', { kind: 'folder', path: '/x' }],
    ['file:///a%20b', { kind: 'folder', path: '/a b' }],
    ['./weather-1.0.0.tgz', { kind: 'archive', path: '/cwd/weather-1.0.0.tgz' }],
    ['weather.tar.gz', { kind: 'archive', path: '/cwd/weather.tar.gz' }],
    ['/x.tar', { kind: 'archive', path: '/x.tar' }],
    ['npm:zod', { kind: 'npm', name: 'zod', range: 'latest' }],
    ['npm:@scope/name@^1', { kind: 'npm', name: '@scope/name', range: '^1' }],
    ['npm:name@1.2.3', { kind: 'npm', name: 'name', range: '1.2.3' }],
    ['npm:name@next', { kind: 'npm', name: 'name', range: 'next' }],
    ['npm:name@>=1 <3', { kind: 'npm', name: 'name', range: '>=1 <3' }],
    ['pypi:mcp-server-time', { kind: 'pypi', name: 'mcp-server-time', range: '' }],
    ['pypi:name@>=1', { kind: 'pypi', name: 'name', range: '>=1' }],
    ['pypi:name@1.2', { kind: 'pypi', name: 'name', range: '==1.2' }],
    ['pypi:name==1.2', { kind: 'pypi', name: 'name', range: '==1.2' }],
    ['pypi:Name_X.y>=1,<2', { kind: 'pypi', name: 'Name_X.y', range: '>=1,<2' }],
    ['git+https://host/o/n.git#v1.0.0', { kind: 'git', url: 'https://host/o/n.git', ref: 'v1.0.0' }],
    ['git+ssh://git@host/o/n.git', { kind: 'git', url: 'ssh://git@host/o/n.git', ref: null }],
    ['git+file:///srv/n.git#feature/x', { kind: 'git', url: 'file:///srv/n.git', ref: 'feature/x' }],
    ['https://host/x.tgz', { kind: 'https', url: 'https://host/x.tgz', integrity: null }],
    [`https://host/x.tgz#${sri}`, { kind: 'https', url: 'https://host/x.tgz', integrity: sri }],
    ['http://127.0.0.1:8080/x.tgz', { kind: 'https', url: 'http://127.0.0.1:8080/x.tgz', integrity: null }],
    ['weather-tool', { kind: 'registry', id: 'weather-tool', range: '*' }],
    ['weather-tool@^1', { kind: 'registry', id: 'weather-tool', range: '^1' }],
    ['weather-tool@1.0.0-rc.1', { kind: 'registry', id: 'weather-tool', range: '1.0.0-rc.1' }],
  ])('%s', (spec, source) => expect(parseSpec(spec, '/cwd')).toEqual(source))

  it('takes an integrity for an https archive alone', () => {
    expect(parseSpec('https://host/x.tgz', '/', sri)).toEqual({ kind: 'https', url: 'https://host/x.tgz', integrity: sri })
    expect(() => parseSpec('./x.tgz', '/', sri)).toThrow('takes no integrity')
    expect(() => parseSpec(`https://host/x.tgz#${sri}`, '/', sri.replace('sha512-', 'sha256-'))).toThrow('not an integrity')
  })

  it.each([
    ['', 'is empty'],
    ['  ', 'is empty'],
    ['--yes', 'looks like an option'],
    ['a\nb', 'control character'],
    ['~/weather', 'only a shell expands'],
    ['@scope/name', 'has a scope'],
    ['owner/name', 'neither a path nor an id'],
    ['Weather', 'not a package id'],
    ['mcp-gateway', 'not a package id'],
    ['weather@', 'not a semver range'],
    ['weather@newest', 'not a semver range'],
    ['./x.zip', 'not read'],
    ['npm:', 'registry'],
    ['npm:Not A Name', 'npm'],
    ['npm:owner/name', 'registry'],
    ['npm:a@npm:b@1', 'registry'],
    ['npm:a@file:../x', 'registry'],
    ['npm:a@https://host/x.tgz', 'registry'],
    ['pypi:', 'PyPI'],
    ['pypi:-r', 'PyPI'],
    ['pypi:name@', 'names no version'],
    ['pypi:name@^1', 'not a version range'],
    ['pypi:name[extra]', 'names extras'],
    ['pypi:name @ https://host/x.whl', 'not a version range'],
    ['git+http://host/n.git', 'without encryption'],
    ['git://host/n.git', 'without encryption'],
    ['ssh://git@host/n.git', 'lacks the prefix'],
    ['git+https://host/n.git#', 'not a branch'],
    ['git+https://host/n.git#--upload-pack=x', 'not a branch'],
    ['git+https://host/n.git#a..b', 'not a branch'],
    ['git+https://user:secret@host/n.git', 'credentials'],
    ['git+ssh://-oProxyCommand=x/n.git', 'git'],
    ['git+https://host', 'names no repository'],
    ['git+file:', 'names no repository'],
    ['github:owner/name', 'not a form'],
    ['ftp://host/x.tgz', 'not a form'],
    ['http://host/x.tgz', 'without encryption'],
    ['https://user:secret@host/x.tgz', 'credentials'],
    ['https://host/n.git', 'git repository'],
    ['https://host/x.tgz#sha1-abc', 'not an integrity'],
    ['https://', 'not an address'],
    ['https://host/x.tgz#%zz', 'not an integrity'],
    ['file://other/x', 'no file of this machine'],
  ])('refuses %j', (spec, why) => {
    expect(() => parseSpec(spec, '/cwd')).toThrow(
      expect.objectContaining({ code: 'SPEC_INVALID', message: expect.stringContaining(why), hint: expect.any(String) }),
    )
  })

  it('never repeats a password', () => {
    expect(() => parseSpec('git+https://user:hunter2@host/n.git', '/')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
    )
  })

  it('reads any text as a source or as SPEC_INVALID', () => {
    const prefix = fc.constantFrom('', './', 'npm:', 'pypi:', 'git+https://', 'https://', 'file:', '@', 'git+ssh://')
    fc.assert(
      fc.property(prefix, fc.string({ unit: 'binary' }), (start, rest) => {
        try {
          return toSpec(parseSpec(start + rest, '/cwd')).length > 0
        } catch (error) {
          return findCoded(error)?.code === 'SPEC_INVALID'
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('reads back what toSpec writes', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9]{0,10}(-[a-z0-9]{1,5})?$/).filter(isPackageId)
    const range = fc
      .tuple(fc.constantFrom('^', '~', '>=', ''), fc.nat(99), fc.nat(99), fc.nat(99))
      .map(([op, a, b, c]) => `${op}${a}.${b}.${c}`)
    const source: fc.Arbitrary<Source> = fc.oneof(
      name.map((path) => ({ kind: 'folder' as const, path: `/srv/${path}` })),
      name.map((path) => ({ kind: 'archive' as const, path: `/srv/${path}.tgz` })),
      fc.record({
        kind: fc.constant('npm' as const),
        name: fc.oneof(
          name,
          fc.tuple(name, name).map(([scope, part]) => `@${scope}/${part}`),
        ),
        range: fc.oneof(range, fc.constant('latest')),
      }),
      fc.record({
        kind: fc.constant('pypi' as const),
        name,
        range: fc.oneof(
          fc.constant(''),
          range.map((text) => `>=${text.replace(/^\D+/, '')}`),
        ),
      }),
      fc.record({ kind: fc.constant('git' as const), url: name.map((part) => `https://host/${part}.git`), ref: fc.option(name) }),
      fc.record({
        kind: fc.constant('https' as const),
        url: name.map((part) => `https://host/${part}.tgz`),
        integrity: fc.constantFrom(null, sri),
      }),
      fc.record({ kind: fc.constant('registry' as const), id: name, range: fc.oneof(range, fc.constant('*')) }),
    )
    fc.assert(
      fc.property(source, (value) => {
        expect(parseSpec(toSpec(value), '/elsewhere')).toEqual(value)
      }),
    )
  })
})
