import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { manifestSchema } from '../../../../registry/manifest/manifestSchema.ts'
import { validateManifest } from '../../../../registry/manifest/validateManifest.ts'
import { minimal } from './fixtures.ts'

const hook = { ...minimal, type: 'internal-hook', mcp: undefined }
const withoutMcp = (extra: object) => Object.fromEntries(Object.entries({ ...hook, ...extra }).filter(([, value]) => value !== undefined))
const brief = (document: unknown) => validateManifest(document).map((issue) => `${issue.pointer} ${issue.rule}`)

describe('validateManifest', () => {
  it('accepts the smallest manifest', () => expect(validateManifest(minimal)).toEqual([]))

  it.each([
    [
      'every key of the contract',
      {
        ...minimal,
        $schema: 'https://localhost/schemas/manifest.json',
        description: 'd',
        author: 'a',
        license: 'MIT',
        homepage: 'https://example.com',
        keywords: ['weather'],
        mcp: {
          transport: 'streamable-http',
          command: 'node',
          port: 8080,
          path: '/mcp',
          env: { UNITS: 'metric' },
          env_required: ['KEY'],
          sessions: 'per-client',
        },
        sandbox: {
          network: { allow: ['api.example.com:443'] },
          filesystem: { data: true, mounts: [{ name: 'docs', target: '/docs', mode: 'ro', description: 'what to read' }] },
          memory_limit: '512MB',
          cpu_limit: 0.5,
          pids_limit: 64,
          tmp_size: 1_048_576,
          image: 'registry.local/node@sha256:abc',
        },
        config: { units: { type: 'string', title: 'Units', default: 'metric', sensitive: false, required: false, env: 'UNITS' } },
        dependencies: { node: '>=20', packages: ['zod@^4', 'npm:@scope/a@1.x'], sdk: '^1', extensions: { 'market-data': '^1.2.0' } },
        restart: { policy: 'always', max_retries: 3, window: '5m' },
        health: { interval: '30s', timeout: '5s', retries: 3 },
        start: 'on-demand',
        idle_timeout: '10m',
        'x-own': { anything: true },
      },
    ],
    [
      'an agent',
      withoutMcp({
        type: 'a2a-agent',
        a2a: { command: 'python', port: 9001, skills: ['a', { id: 'b', input_schema: {}, idempotent: true }], rate_limit: '60/min' },
      }),
    ],
    ['an observing hook', withoutMcp({ hook: { command: 'node', events: ['request.*'] } })],
    ['the type "internal"', withoutMcp({ type: 'internal', hook: { command: 'node', events: ['*'] } })],
    [
      'an intercepting hook',
      withoutMcp({ hook: { command: 'node', mode: 'intercept', points: ['tool.before'], packages: ['weather-*'], on_error: 'allow' } }),
    ],
  ])('accepts %s', (_, document) => expect(validateManifest(document)).toEqual([]))

  it.each<[string, unknown, string[]]>([
    ['no object', 3, [' type']],
    ['no keys', {}, ['/id required', '/name required', '/type required', '/version required']],
    ['the section of another type', withoutMcp({ a2a: { command: 'x', port: 1 } }), ['/a2a type', '/hook required']],
    ['an agent without a port', withoutMcp({ type: 'a2a-agent', a2a: { command: 'x' } }), ['/a2a/port required']],
    ['a hook that sees nothing', withoutMcp({ hook: { command: 'x', events: [] } }), ['/hook/events minItems']],
    ['an interceptor without points', withoutMcp({ hook: { command: 'x', mode: 'intercept' } }), ['/hook/points required']],
    ['http without a port', { ...minimal, mcp: { command: 'x', transport: 'sse' } }, ['/mcp/port required']],
    ['stdio with a port', { ...minimal, mcp: { command: 'x', port: 1 } }, ['/mcp/port transport']],
    ['a version that is a range', { ...minimal, version: '^1.0.0' }, ['/version pattern']],
    ['a version of two parts', { ...minimal, version: '1.0' }, ['/version pattern']],
    ['a reserved id', { ...minimal, id: 'mcp-gateway' }, ['/id reserved']],
    ['an id in upper case', { ...minimal, id: 'Weather' }, ['/id pattern']],
    ['a size that is none', { ...minimal, sandbox: { memory_limit: 'lots' } }, ['/sandbox/memory_limit pattern']],
    ['too little memory', { ...minimal, sandbox: { memory_limit: '1MB' } }, ['/sandbox/memory_limit memory']],
    ['too little memory in bytes', { ...minimal, sandbox: { memory_limit: 1000 } }, ['/sandbox/memory_limit minimum']],
    ['no CPU', { ...minimal, sandbox: { cpu_limit: 0 } }, ['/sandbox/cpu_limit minimum']],
    ['a port beyond the last', { ...minimal, sandbox: { network: { allow: ['a.b:99999'] } } }, ['/sandbox/network/allow/0 host-port']],
    [
      'a mount over the package',
      { ...minimal, sandbox: { filesystem: { mounts: [{ name: 'a', target: '/app' }] } } },
      ['/sandbox/filesystem/mounts/0/target mount-target'],
    ],
    [
      'two mounts at one target',
      {
        ...minimal,
        sandbox: {
          filesystem: {
            mounts: [
              { name: 'a', target: '/x' },
              { name: 'b', target: '/x' },
            ],
          },
        },
      },
      ['/sandbox/filesystem/mounts/1/target unique'],
    ],
    ["a variable of the shells'", { ...minimal, mcp: { command: 'x', env: { UID: '0' } } }, ['/mcp/env/UID pattern']],
    ["a required variable of the shells'", { ...minimal, mcp: { command: 'x', env_required: ['PPID'] } }, ['/mcp/env_required/0 pattern']],
    ["a config variable of the shells'", { ...minimal, config: { user: { env: 'EUID' } } }, ['/config/user/env pattern']],
    ["a config entry whose variable is the shells'", { ...minimal, config: { uid: {} } }, ['/config/uid environment-name']],
    ["a config entry whose variable is the daemon's", { ...minimal, config: { 'pkgd.x': {} } }, ['/config/pkgd.x environment-name']],
    ['a daemon variable', { ...minimal, mcp: { command: 'x', env: { PKGD_SOCKET: '/x' } } }, ['/mcp/env/PKGD_SOCKET pattern']],
    ['an env value that is no text', { ...minimal, mcp: { command: 'x', env: { A: 1 } } }, ['/mcp/env/A type']],
    ['two entries of one variable', { ...minimal, config: { 'a.b': {}, a_b: {} } }, ['/config/a_b unique']],
    ['a default of another type', { ...minimal, config: { a: { type: 'number', default: 'x' } } }, ['/config/a/default type']],
    ['a dependency on itself', { ...minimal, dependencies: { extensions: { tiny: '*' } } }, ['/dependencies/extensions/tiny self']],
    [
      'a range that is none',
      { ...minimal, dependencies: { extensions: { other: 'newest' } } },
      ['/dependencies/extensions/other semver-range'],
    ],
    ['a Python range that is none', { ...minimal, dependencies: { python: '3.x' } }, ['/dependencies/python python-range']],
    [
      'a line break in a requirement',
      { ...minimal, dependencies: { packages: ['zod@4\n--registry=http://x'] } },
      ['/dependencies/packages/0 pattern', '/dependencies/packages/0 requirement'],
    ],
    [
      'a duplicate skill',
      withoutMcp({ type: 'a2a-agent', a2a: { command: 'x', port: 1, skills: ['a', { id: 'a' }] } }),
      ['/a2a/skills/1 unique'],
    ],
    ['an idle timeout of an eager package', { ...minimal, idle_timeout: '1m' }, ['/idle_timeout start']],
    [
      'a key that names a prototype',
      JSON.parse('{"id":"a","name":"a","version":"1.0.0","type":"mcp-server","mcp":{"command":"x"},"__proto__":{}}'),
      ['/__proto__ additionalProperties'],
    ],
  ])('refuses %s', (_, document, issues) => expect(brief(document)).toEqual(issues))

  it('tells every problem at once', () => {
    const document = { ...minimal, id: 'p', version: 'one', mcp: { comand: 'node' }, sandbox: { memory_limit: 'x', network: 'yes' } }
    expect(brief(document)).toEqual([
      '/id reserved',
      '/mcp/comand additionalProperties',
      '/mcp/command required',
      '/sandbox/memory_limit pattern',
      '/sandbox/network type',
      '/version pattern',
    ])
  })

  it.each([
    [{ versoin: '1' }, 'did you mean "version"?'],
    [{ memory_limit: '1GB' }, '"memory_limit" belongs in "sandbox"'],
    [{ permissions: [] }, 'a key of your own begins with "x-"'],
  ])('says what to do about the unknown key of %j', (extra, fix) => {
    expect(validateManifest({ ...minimal, ...extra })[0]?.fix).toContain(fix)
  })

  it('names the nearest key whatever its case', () => {
    expect(validateManifest({ ...minimal, sandbox: { memoryLimit: '1GB' } })[0]?.fix).toBe('did you mean "memory_limit"?')
  })

  it('gives every issue a pointer, a rule and a message, whatever the document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('id', 'mcp', 'sandbox', 'config', 'dependencies', 'hook'), (value, key) => {
        const issues = validateManifest({ ...minimal, [key]: value })
        return issues.every((issue) => /^(\/|$)/.test(issue.pointer) && issue.rule !== undefined && issue.message.length > 0)
      }),
    )
  })

  it('is data: what is published is what is checked', () => {
    expect(JSON.parse(JSON.stringify(manifestSchema))).toEqual(manifestSchema)
    expect(manifestSchema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
  })
})
