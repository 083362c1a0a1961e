import fc from 'fast-check'
import semver from 'semver'
import { describe, expect, it } from 'vitest'
import { deriveNpmManifest, pickNpmProgram } from '../../../../registry/manifest/deriveNpmManifest.ts'
import { derivePypiManifest, pickConsoleScript } from '../../../../registry/manifest/derivePypiManifest.ts'
import { isPackageId, toPackageId } from '../../../../registry/manifest/packageId.ts'
import { toSemver } from '../../../../registry/manifest/toSemver.ts'
import { validateManifest } from '../../../../registry/manifest/validateManifest.ts'

describe('deriveNpmManifest', () => {
  it('runs the bin from a generated project', () => {
    expect(
      deriveNpmManifest({
        name: '@modelcontextprotocol/server-everything',
        version: '2026.1.14',
        bin: { 'mcp-server-everything': 'dist/index.js' },
        engines: { node: '>=18' },
      }),
    ).toMatchObject({
      id: 'server-everything',
      name: '@modelcontextprotocol/server-everything',
      entry: {
        kind: 'mcp',
        command: 'node',
        args: ['node_modules/@modelcontextprotocol/server-everything/dist/index.js'],
        transport: { kind: 'stdio' },
      },
      sandbox: { network: false, data: false, mounts: [] },
      dependencies: { node: '>=18', npm: [], pypi: [] },
    })
  })

  it.each<[unknown, string]>([
    [{ name: 'a', bin: './x.js' }, 'x.js'],
    [{ name: 'a', bin: { one: 'x.js' } }, 'x.js'],
    [{ name: '@s/a', bin: { one: 'x.js', a: './y.js' } }, 'y.js'],
    [{ name: 'a', bin: { one: 'x.js', two: './x.js' } }, 'x.js'],
    [{ name: 'a', mcpName: 'io.x/a', main: './dist/main.js' }, 'dist/main.js'],
  ])('of %j runs %s', (packageJson, file) => expect(pickNpmProgram(packageJson)).toBe(file))

  it.each<[unknown, string]>([
    [{ name: 'a', bin: { one: 'x.js', two: 'y.js' } }, 'one, two'],
    [{ name: 'a', main: 'x.js' }, 'neither "bin" nor "mcpName"'],
    [{ name: 'a', bin: {} }, 'neither "bin" nor "mcpName"'],
  ])('of %j runs nothing', (packageJson, why) => expect(() => pickNpmProgram(packageJson)).toThrow(why))

  it('runs nothing outside of the package', () => {
    expect(() => pickNpmProgram({ name: 'a', bin: '../../bin/sh' })).toThrow(expect.objectContaining({ code: 'MANIFEST_INVALID' }))
  })

  it.each([{}, { name: 'a' }, { name: 'a', version: 'x', bin: 'y' }, { name: '@s/---', version: '1.0.0', bin: 'y' }, null])(
    'needs a name and a version: %j',
    (json) => expect(() => deriveNpmManifest(json)).toThrow(expect.objectContaining({ code: 'MANIFEST_MISSING' })),
  )
})

describe('derivePypiManifest', () => {
  it('runs the generated script', () => {
    const distribution = {
      name: 'mcp-server-time',
      version: '2025.9.25',
      summary: 'Time',
      requiresPython: '>=3.10',
      consoleScripts: { 'mcp-server-time': 'mcp_server_time:main' },
    }
    expect(derivePypiManifest(distribution)).toMatchObject({
      id: 'mcp-server-time',
      version: '2025.9.25',
      entry: { command: 'python', args: ['/app/.pkgd/run.py'] },
      dependencies: { python: '>=3.10', pypi: [] },
      sandbox: { network: false },
    })
  })

  it.each([
    ['Mcp_Server.Time', { 'mcp-server-time': 'a:b', other: 'c:d' }, 'mcp-server-time'],
    ['x', { serve: 'a:b' }, 'serve'],
    ['x', { serve: 'a:b', start: 'a:b' }, 'serve'],
  ])('of %s with %j picks %s', (name, scripts, picked) => expect(pickConsoleScript(name, scripts).name).toBe(picked))

  it.each([[{}], [{ a: 'a:b', b: 'c:d' }]])('of scripts %j picks none', (scripts) =>
    expect(() => pickConsoleScript('x', scripts)).toThrow(expect.objectContaining({ code: 'MANIFEST_MISSING' })),
  )
})

describe('toSemver', () => {
  it.each([
    ['1.0', '1.0.0'],
    ['2', '2.0.0'],
    ['1.2.3', '1.2.3'],
    ['2025.09.01', '2025.9.1'],
    ['2.0rc1', '2.0.0-rc.1'],
    ['1.0a2', '1.0.0-alpha.2'],
    ['1.0.0b3.dev4', '1.0.0-beta.3.dev.4'],
    ['1.2.3.4', '1.2.3+4'],
    ['1.0.post2', '1.0.0+post.2'],
    ['1!2.0', '2.0.0'],
    ['1.0+local.1', '1.0.0+local.1'],
    ['1.0.dev1', '1.0.0-dev.1'],
  ])('%s is %s', (version, expected) => expect(toSemver(version)).toBe(expected))

  it.each(['', 'latest', '1.x', 'v'])('%j is no version', (version) => expect(toSemver(version)).toBeUndefined())

  it('keeps the order of releases and pre-releases', () => {
    const kind = fc.constantFrom('a', 'b', 'rc')
    const release = fc.tuple(fc.nat(50), fc.nat(50), fc.nat(50))
    fc.assert(
      fc.property(release, kind, fc.nat(9), ([a, b, c], pre, n) => {
        const final = toSemver(`${a}.${b}.${c}`) ?? ''
        const early = toSemver(`${a}.${b}.${c}${pre}${n}`) ?? ''
        return semver.lt(early, final) && semver.gt(toSemver(`${a}.${b}.${c + 1}`) ?? '', final)
      }),
    )
  })
})

describe('toPackageId', () => {
  it.each([
    ['@scope/Server_One', 'server_one'],
    ['Weather Tool!', 'weather-tool'],
    ['x', 'x'],
  ])('%s is %s', (name, id) => expect(toPackageId(name)).toBe(id))

  it('gives an id that a manifest may have, or none', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (name) => {
        const id = toPackageId(name)
        return (
          id === undefined ||
          (isPackageId(id) && validateManifest({ id, name: 'n', version: '1.0.0', type: 'mcp-server', mcp: { command: 'x' } }).length === 0)
        )
      }),
    )
  })
})
