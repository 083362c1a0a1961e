// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of pkgd.yaml look like this
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { interpolate } from '../../../../daemon/config/interpolate.ts'
import { parseConfig } from '../../../../daemon/config/parseConfig.ts'
import { PkgdError } from '../../../../daemon/core/errors.ts'

const defaults = { hostMemoryBytes: 8 * 1024 ** 3, hostCpus: 6, shippedPackages: '/pkgd/packages', homeRoot: '/home/u/.pkgd' }
const parse = (text: string, env: Record<string, string> = {}, dotenv: Record<string, string> = {}) =>
  parseConfig({ text, env, dotenv, defaults })

const issuesOf = async (text: string, env: Record<string, string> = {}) => {
  try {
    await parse(text, env)
  } catch (error) {
    if (!(error instanceof PkgdError)) throw error
    expect(error.code).toBe('CONFIG_INVALID')
    return error.issues.map(({ pointer, message, fix }) => [pointer, message, fix])
  }
  throw new Error('it was accepted')
}

test('without a file every default is there', async () => {
  expect(await parse('')).toEqual({
    port: 7433,
    log: 'info',
    driver: 'auto',
    limits: {
      max: { memoryBytes: 4 * 1024 ** 3, cpus: 6, pids: 1024, tmpBytes: 4 * 1024 ** 3 },
      allowUnenforced: [],
      frameBytes: 16 * 1024 ** 2,
      archiveBytes: 512 * 1024 ** 2,
      archiveEntries: 100_000,
      logBytes: 10 * 1024 ** 2,
    },
    network: { pool: '10.213.0.0/16', allowPrivate: [], resolvers: [] },
    install: { allowSources: [], sdist: false, timeoutMs: 900_000 },
    registries: [{ kind: 'folder', path: '/pkgd/packages' }],
    images: {},
    lifecycle: {
      parallel: 4,
      pullTimeoutMs: 600_000,
      bootTimeoutMs: 30_000,
      handshakeTimeoutMs: 60_000,
      stopGraceMs: 3000,
      stableMs: 60_000,
    },
    calls: { timeoutMs: 60_000 },
    events: { keepMs: 7 * 86_400_000, keepAtMost: 100_000 },
    firstUid: 200_000,
  })
})

test('what is given is taken, in bytes and milliseconds', async () => {
  const config = await parse(`
    port: 0
    limits: { max: { memory: 1GB, cpus: 1.5 }, allow_unenforced: [cpu], frame: 1024 }
    network: { allow_private: [10.0.0.0/8, "fd00::/8"], resolvers: [1.1.1.1] }
    registries: [{ folder: ./mine }, { npm: "https://registry.example.com/", scope: "@acme" }]
    lifecycle: { stop_grace: 500ms }
    x-mine: anything
  `)
  expect(config).toMatchObject({
    port: 0,
    limits: { max: { memoryBytes: 1024 ** 3, cpus: 1.5, tmpBytes: 1024 ** 3 }, allowUnenforced: ['cpu'], frameBytes: 1024 },
    network: { allowPrivate: ['10.0.0.0/8', 'fd00::/8'], resolvers: ['1.1.1.1'] },
    lifecycle: { stopGraceMs: 500 },
  })
  expect(config.registries.slice(1)).toEqual([
    { kind: 'folder', path: '/home/u/.pkgd/mine' },
    { kind: 'npm', url: 'https://registry.example.com/', scope: '@acme' },
  ])
})

describe('variables', () => {
  test('are put in after parsing: numbers stay numbers, quoted ones text, and no value changes the form', async () => {
    const env = { P: '8080', IMAGE: '"x", evil: [1]', EMPTY: '' }
    const config = await parse('port: ${P}\nlog: ${EMPTY:-warn}\nimages: { node: "${IMAGE}" }', env)
    expect(config).toMatchObject({ port: 8080, log: 'warn', images: { node: '"x", evil: [1]' } })
    expect(await issuesOf('port: "${P}"', env)).toEqual([['/port', 'must be integer, not "8080"', expect.anything()]])
  })
  test('come from the environment before .env', async () => {
    expect((await parse('port: ${P}', {}, { P: '1' })).port).toBe(1)
    expect((await parse('port: ${P}', { P: '2' }, { P: '1' })).port).toBe(2)
  })
  test('without a value are an error with their place', async () => {
    expect(await issuesOf('images:\n  node: a/${NOPE}')).toEqual([
      ['/images/node', 'the variable NOPE is not set', expect.stringContaining('${NOPE:-default}')],
    ])
  })
  test.each([
    ['$${A}', '${A}'],
    ['$A ${ A} ${1}', '$A ${ A} ${1}'],
    ['${A}${A:-x}${B:-y}', '11y'],
    ['${B:-}', ''],
  ])('%s becomes %s', (text, expected) => {
    expect(interpolate(text, { A: '1' })).toEqual({ text: expected, missing: [] })
  })
  test('text without a reference is left alone', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes('${'))
        expect(interpolate(text, {}).text).toBe(text)
      }),
    )
  })
})

test('the environment overrides the file, and is named when it is wrong', async () => {
  expect(await parse('port: 1\nlog: info', { PKGD_PORT: '0', PKGD_DRIVER: 'docker', PKGD_LOG: 'debug' })).toMatchObject({
    port: 0,
    driver: 'docker',
    log: 'debug',
  })
  expect(await issuesOf('', { PKGD_PORT: '70000', PKGD_DRIVER: 'dokcer' })).toEqual([
    ['/driver', '"dokcer" is not one of auto, docker, bubblewrap (from the environment variable PKGD_DRIVER)', 'did you mean "docker"?'],
    ['/port', expect.stringContaining('must be <= 65535, not 70000 (from the environment variable PKGD_PORT)'), expect.anything()],
  ])
})

test.each([
  ['an unknown key', 'limit: {}', ['/limit', '"limit" is not a known key', 'did you mean "limits"?']],
  ['camelCase', 'firstUid: 200000', ['/firstUid', '"firstUid" is not a known key', 'did you mean "first_uid"?']],
  ['a deep one', 'limits: { max: { memroy: 1GB } }', ['/limits/max/memroy', '"memroy" is not a known key', 'did you mean "memory"?']],
  [
    'a size',
    'limits: { frame: 12 parsecs }',
    ['/limits/frame', '"12 parsecs" is not of the expected form', expect.stringContaining('256MB')],
  ],
  ['a range', 'network: { pool: 10.0.0.0/99 }', ['/network/pool', expect.any(String), expect.stringContaining('10.213.0.0/16')]],
  ['a duration', 'calls: { timeout: 60 }', ['/calls/timeout', expect.any(String), expect.stringContaining('duration')]],
  ['a list', '[1]', ['', 'must be object, not [1]', undefined]],
  ['a scope alone', 'registries: [{ folder: x, scope: "@a" }]', ['/registries/0', expect.stringContaining('npm'), undefined]],
  ['twice the key', 'port: 1\nport: 2', ['', expect.stringContaining('line 2, column 1'), undefined]],
  ['no YAML', 'a: [', ['', expect.stringContaining('line 1'), undefined]],
])('%s is an error with its place', async (_, text, issue) => {
  expect((await issuesOf(text))[0]).toEqual(issue)
})

test('all problems at once', async () => {
  expect((await issuesOf('port: -1\nlog: loud\nlimits: { archive_entries: 0 }\nnope: 1')).map(([pointer]) => pointer)).toEqual([
    '/limits/archive_entries',
    '/log',
    '/nope',
    '/port',
  ])
})
