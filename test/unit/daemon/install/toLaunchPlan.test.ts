import { describe, expect, test } from 'vitest'
import type { PkgdError } from '../../../../daemon/core/errors.ts'
import { toLaunchPlan } from '../../../../daemon/install/toLaunchPlan.ts'
import type { ConfigEntry, McpEntry } from '../../../../registry/manifest/manifest.ts'
import type { Resolution } from '../../../../registry/resolve/resolution.ts'
import { manifestOf, recordOf } from './manifestFixture.ts'

const none = () => undefined
const entry = (changes: Partial<McpEntry>): McpEntry => ({
  kind: 'mcp',
  command: 'node',
  args: ['server.mjs'],
  env: {},
  envRequired: [],
  transport: { kind: 'stdio' },
  sessions: 'auto',
  ...changes,
})
const config = (changes: Partial<ConfigEntry>): ConfigEntry => ({
  type: 'string',
  sensitive: false,
  required: false,
  env: 'UNITS',
  ...changes,
})

describe('a launch plan', () => {
  test('takes values from the manifest, then config defaults, then the user, then secrets', () => {
    const manifest = manifestOf({
      entry: entry({ env: { A: 'manifest', B: 'manifest', C: 'manifest', D: 'manifest' } }),
      config: { b: config({ env: 'B', default: 'config' }), c: config({ env: 'C', default: 'config' }) },
    })
    const record = recordOf(manifest, { env: { C: 'user', D: 'user' }, secrets: ['D'] })
    const secrets: Record<string, string> = { D: 'secret' }
    expect(toLaunchPlan(record, (name) => secrets[name]).env).toEqual({ A: 'manifest', B: 'config', C: 'user', D: 'secret' })
  })

  test('takes a config entry by its own name too, and numbers and booleans as text', () => {
    const manifest = manifestOf({
      config: {
        units: config({ env: 'UNITS' }),
        days: config({ type: 'number', env: 'DAYS', default: 5 }),
        loud: config({ type: 'boolean', env: 'LOUD', default: false }),
      },
    })
    expect(toLaunchPlan(recordOf(manifest, { env: { units: 'metric' } }), none).env).toEqual({ UNITS: 'metric', DAYS: '5', LOUD: 'false' })
  })

  test("runs the record's command on the runtime that the manifest's names", () => {
    const record = recordOf(manifestOf(), { command: ['node', 'server.mjs', '/docs'] })
    expect(toLaunchPlan(record, none)).toEqual({ image: { runtime: 'node' }, command: ['node', 'server.mjs', '/docs'], env: {} })
  })

  test('of a Python package says where its dependencies are', () => {
    const { image, env } = toLaunchPlan(recordOf(manifestOf({ entry: entry({ command: 'python', args: ['server.py'] }) })), none)
    expect(image).toEqual({ runtime: 'python' })
    expect(env).toEqual({ PYTHONPATH: '/app/.pkgd/python', PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' })
  })

  test('is refused with every missing value and how to set each', () => {
    const manifest = manifestOf({
      entry: entry({ envRequired: ['OPENWEATHERMAP_API_KEY', 'REGION', 'GIVEN'] }),
      config: {
        account: config({ env: 'ACCOUNT', required: true, title: 'Account' }),
        units: config({ required: true, default: 'metric' }),
      },
    })
    try {
      toLaunchPlan(recordOf(manifest, { env: { GIVEN: 'x' } }), none)
      expect.unreachable()
    } catch (error) {
      const { code, message, hint, issues } = error as PkgdError
      expect(code).toBe('ENV_MISSING')
      expect(message).toBe('weather cannot start without OPENWEATHERMAP_API_KEY, REGION, ACCOUNT (Account)')
      expect(hint).toBe('pkg install /src/weather --secret OPENWEATHERMAP_API_KEY --env REGION=value --env ACCOUNT=value')
      expect(issues.map((issue) => issue.fix)).toEqual([
        'pkg install /src/weather --secret OPENWEATHERMAP_API_KEY',
        'pkg install /src/weather --env REGION=value',
        'pkg install /src/weather --env ACCOUNT=value',
      ])
      expect(issues.map((issue) => issue.pointer)).toEqual(['/mcp/env_required', '/mcp/env_required', '/config'])
    }
  })

  test.each<[Resolution, string]>([
    [{ kind: 'folder', path: "/my src/it's" }, `'/my src/it'\\''s'`],
    [{ kind: 'npm', name: '@s/n', version: '1.2.3', tarball: 'https://r/t.tgz', integrity: 'sha512-x' }, 'npm:@s/n@1.2.3'],
    [{ kind: 'pypi', name: 'time', version: '0.6', url: 'https://r/t.whl', integrity: 'sha256-x' }, 'pypi:time@==0.6'],
    [{ kind: 'git', url: 'https://h/r.git', commit: 'a'.repeat(40) }, `'git+https://h/r.git#${'a'.repeat(40)}'`],
    [{ kind: 'https', url: 'https://h/a.tgz', integrity: 'sha512-x' }, `'https://h/a.tgz#sha512-x'`],
  ])('%j is installed again by a spec that names the same', (resolution, spec) => {
    const record = recordOf(manifestOf({ entry: entry({ envRequired: ['REGION'] }) }), { resolution })
    expect(() => toLaunchPlan(record, none)).toThrow(expect.objectContaining({ hint: `pkg install ${spec} --env REGION=value` }))
  })

  test('takes an empty value for a missing one', () => {
    const manifest = manifestOf({ entry: entry({ envRequired: ['TOKEN'] }) })
    expect(() => toLaunchPlan(recordOf(manifest, { env: { TOKEN: '' } }), none)).toThrow(expect.objectContaining({ code: 'ENV_MISSING' }))
  })
})
