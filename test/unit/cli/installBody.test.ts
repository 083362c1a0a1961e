import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { toAbsoluteSpec, toEnv, toMount, toPermissions, toUnset } from '../../../cli/installBody.ts'

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'pkgd-cli-')))
afterAll(() => rmSync(cwd, { recursive: true }))

describe('toAbsoluteSpec', () => {
  it.each([
    ['./weather', `${cwd}/weather`],
    ['../weather', join(cwd, '..', 'weather')],
    ['.', cwd],
    ['/abs/weather', '/abs/weather'],
    ['weather-1.0.0.tgz', `${cwd}/weather-1.0.0.tgz`],
    ['npm:@scope/name@^1', 'npm:@scope/name@^1'],
    ['pypi:name@>=1', 'pypi:name@>=1'],
    ['weather-tool@^1', 'weather-tool@^1'],
    ['https://example.com/x.tgz', 'https://example.com/x.tgz'],
    ['git+https://example.com/x.git#v1', 'git+https://example.com/x.git#v1'],
  ])('%s -> %s', (spec, expected) => expect(toAbsoluteSpec(spec, cwd)).toBe(expected))
})

describe('toMount', () => {
  it.each([
    ['.:/docs', { source: cwd, target: '/docs', mode: 'rw' }],
    ['.:/docs:ro', { source: cwd, target: '/docs', mode: 'ro' }],
    ['src=.,dst=/docs,ro', { source: cwd, target: '/docs', mode: 'ro' }],
    ['source=/a:b,target=/docs', { source: '/a:b', target: '/docs', mode: 'rw' }],
  ])('%s', (text, expected) => expect(toMount(text, cwd)).toEqual(expected))

  it.each(['docs', ':/docs', '.:docs', '.:/docs:rx', 'a:b:c:d', 'src=.'])('%s is a usage error', (text) =>
    expect(() => toMount(text, cwd)).toThrow(expect.objectContaining({ code: 'USAGE' })),
  )
})

describe('toPermissions', () => {
  it('is undefined when nothing was given', () => expect(toPermissions({}, cwd)).toBeUndefined())
  it.each([
    [{ network: ['none'] }, { network: false }],
    [{ mount: ['none'] }, { filesystem: { mounts: [] } }],
    [{ network: ['internet'] }, { network: true }],
    [{ network: ['a.example:443', 'b.example:80'] }, { network: { allow: ['a.example:443', 'b.example:80'] } }],
    [
      { memory: '1GB', cpus: '0.5', pids: '64' },
      { memoryLimit: '1GB', cpuLimit: 0.5, pidsLimit: 64 },
    ],
  ])('%j', (options, expected) => expect(toPermissions(options, cwd)).toEqual(expected))
  it.each([{ network: ['a.example'] }, { network: ['none', 'a:1'] }, { cpus: 'many' }, { pids: '-1' }])('%j is a usage error', (options) =>
    expect(() => toPermissions(options, cwd)).toThrow(expect.objectContaining({ code: 'USAGE' })),
  )
})

describe('toEnv', () => {
  it('keeps everything after the first =', () => expect(toEnv(['A=b=c', 'B='])).toEqual({ A: 'b=c', B: '' }))
  it.each(['1A=x', 'UID=0', 'PKGD_SOCKET=/x', 'a-b=c'])('%s is a usage error that says what a name is', (pair) =>
    expect(() => toEnv([pair])).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringMatching(/letters, digits|shells|the daemon's/) }),
    ),
  )
  it('takes away what --unset names', () => {
    expect(toUnset(['A', 'B'])).toEqual({ A: null, B: null })
    expect(() => toUnset(['A=1'])).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })
  it('needs a name', () => expect(() => toEnv(['=x'])).toThrow(expect.objectContaining({ code: 'USAGE' })))
})
