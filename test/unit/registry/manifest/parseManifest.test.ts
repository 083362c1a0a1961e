import { describe, expect, it } from 'vitest'
import { PkgdError } from '../../../../daemon/core/errors.ts'
import { parseManifest } from '../../../../registry/manifest/parseManifest.ts'
import { minimal } from './fixtures.ts'

const failure = (document: unknown): PkgdError => {
  try {
    parseManifest(document)
  } catch (error) {
    if (error instanceof PkgdError) return error
    throw error
  }
  throw new Error('it was accepted')
}

describe('parseManifest', () => {
  it('fills in every default', () => {
    expect(parseManifest(minimal)).toEqual({
      id: 'tiny',
      name: 'Tiny',
      version: '1.0.0',
      keywords: [],
      type: 'mcp-server',
      entry: {
        kind: 'mcp',
        command: 'node',
        args: ['server.mjs'],
        env: {},
        envRequired: [],
        transport: { kind: 'stdio' },
        sessions: 'auto',
      },
      sandbox: { network: false, data: false, mounts: [], memoryBytes: 268_435_456, cpus: 1, pids: 128, tmpBytes: 67_108_864 },
      config: {},
      dependencies: { pypi: [], npm: [], extensions: {} },
      restart: { policy: 'on-failure', maxRetries: 5, windowMs: 600_000 },
      health: { intervalMs: 30_000, timeoutMs: 5000, retries: 3 },
      start: { mode: 'eager' },
    })
  })

  it('reads "internal" as internal-hook', () => {
    const manifest = parseManifest({ id: 'h', name: 'h', version: '1.0.0', type: 'internal', hook: { command: 'node', events: ['*'] } })
    expect(manifest).toMatchObject({
      type: 'internal-hook',
      entry: { kind: 'hook', mode: 'observe', timeoutMs: 2000, onError: 'deny', packages: [], order: 0 },
    })
  })

  it.each([
    ['python', {}, ['a>=1'], { pypi: ['a>=1'], npm: [] }],
    ['python3.12', {}, ['a'], { pypi: ['a'], npm: [] }],
    ['/usr/bin/python3', {}, ['a'], { pypi: ['a'], npm: [] }],
    ['node', {}, ['a@1', '@s/b'], { pypi: [], npm: ['a@1', '@s/b'] }],
    ['./run', { node: '>=20' }, ['a@1'], { pypi: [], npm: ['a@1'] }],
    ['node', { python: '>=3.11' }, ['pypi:a>=1', 'npm:b@2'], { pypi: ['a>=1'], npm: ['b@2'] }],
    ['./run', {}, ['pypi:a'], { pypi: ['a'], npm: [] }],
  ])('splits the packages of %s with %j', (command, runtimes, packages, split) => {
    expect(parseManifest({ ...minimal, mcp: { command }, dependencies: { ...runtimes, packages } }).dependencies).toMatchObject(split)
  })

  it.each([
    ['./run', {}],
    ['node', { python: '>=3.11' }],
  ])('does not guess where the packages of %s with %j are from', (command, runtimes) => {
    const error = failure({ ...minimal, mcp: { command }, dependencies: { ...runtimes, packages: ['a'] } })
    expect(error).toMatchObject({ code: 'AMBIGUOUS_ECOSYSTEM', hint: 'write "pypi:a" or "npm:a"' })
    expect(error.issues[0]?.pointer).toBe('/dependencies/packages/0')
  })

  it('throws every issue', () => {
    const error = failure({ ...minimal, id: 'pkgd', version: 'x', dependencies: { packages: ['a b c'] } })
    expect(error.code).toBe('MANIFEST_INVALID')
    expect(error.issues.map((issue) => issue.pointer)).toEqual(['/dependencies/packages/0', '/id', '/version'])
    expect(error.message).toContain('and 2 more')
  })

  it('reads mounts, sizes and durations', () => {
    const manifest = parseManifest({
      ...minimal,
      sandbox: {
        filesystem: {
          mounts: [
            { name: 'a', target: '/a' },
            { name: 'b', target: '/b', mode: 'rw' },
          ],
        },
        memory_limit: '1GB',
        tmp_size: 4096,
      },
      start: 'on-demand',
      idle_timeout: '1m',
    })
    expect(manifest.sandbox).toMatchObject({ data: false, memoryBytes: 1_073_741_824, tmpBytes: 4096 })
    expect(manifest.sandbox.mounts.map((mount) => mount.readOnly)).toEqual([true, false])
    expect(manifest.start).toEqual({ mode: 'on-demand', idleTimeoutMs: 60_000 })
  })

  it('names the variable of a config entry', () => {
    const { config } = parseManifest({ ...minimal, config: { 'api.base-url': {}, other: { type: 'number', env: 'N' } } })
    expect(Object.values(config).map((entry) => [entry.env, entry.type])).toEqual([
      ['API_BASE_URL', 'string'],
      ['N', 'number'],
    ])
  })
})
