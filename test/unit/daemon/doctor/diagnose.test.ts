import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Check } from '../../../../daemon/api/schemas/info.ts'
import { parseConfig } from '../../../../daemon/config/parseConfig.ts'
import { PkgdError } from '../../../../daemon/core/errors.ts'
import { type Home, locateHome } from '../../../../daemon/core/home.ts'
import { type DiagnoseDeps, diagnose } from '../../../../daemon/doctor/diagnose.ts'
import type { PackageView } from '../../../../daemon/lifecycle/lifecycle.ts'
import type { PackageStatus } from '../../../../daemon/store/state.ts'
import { createFakeDriver } from '../../../../sandbox/fake/fakeDriver.ts'
import { createFakeEngine } from '../../../../sandbox/fake/fakeEngine.ts'
import type { SandboxDriver } from '../../../../sandbox/sandboxDriver.ts'
import { manifestOf, recordOf } from '../install/manifestFixture.ts'

let home: Home
let driver: SandboxDriver
beforeEach(() => {
  home = locateHome({ PKGD_HOME: mkdtempSync(join(tmpdir(), 'pkgd-doctor-')) })
  writeFileSync(home.token, 'x', { mode: 0o600 })
  driver = createFakeDriver({ engine: createFakeEngine({ programs: {} }), daemon: '0a1b2c3d' })
})
afterEach(async () => {
  await driver[Symbol.asyncDispose]()
  rmSync(home.root, { recursive: true, force: true })
})

const installed = (status: Partial<PackageStatus> = {}): PackageView => ({
  record: recordOf(manifestOf()),
  status: {
    desired: 'running',
    state: 'running',
    reason: null,
    health: 'healthy',
    lastError: null,
    restarts: [],
    wasReady: true,
    since: '2026-01-01T00:00:00Z',
    ...status,
  },
  sandbox: null,
})

/** The report, and its checks by id. */
async function examine(over: Partial<DiagnoseDeps> = {}, yaml = '') {
  const defaults = { hostMemoryBytes: 8 * 1024 ** 3, hostCpus: 2, shippedPackages: join(home.root, 'shipped'), homeRoot: home.root }
  const config = await parseConfig({ text: yaml, env: {}, dotenv: {}, defaults })
  const report = await diagnose({
    home,
    state: { restored: false },
    config: () => config,
    configProblem: () => null,
    driver,
    images: {
      describe: async (runtime) => ({ runtime, key: 'k', runtimes: { node: '26.1.0', ...(runtime === 'python' && { python: '3.11.7' }) } }),
    },
    store: { verify: async () => [] },
    lifecycle: { list: () => [] },
    ...over,
  })
  return { status: report.status, checks: Object.fromEntries(report.checks.map((check): [string, Check] => [check.id, check])) }
}

describe('a machine on which all is well', () => {
  test('has a line for each thing, none of them an error', async () => {
    const { status, checks } = await examine({ lifecycle: { list: () => [installed()] } })
    expect(status).not.toBe('error')
    expect(Object.keys(checks)).toEqual([
      'home',
      'disk',
      'config',
      'state',
      'lockfile',
      'driver',
      'limits',
      'network',
      'runtime.node',
      'runtime.python',
      'package.weather',
    ])
    expect(checks['package.weather']).toMatchObject({ status: 'ok', detail: '1.0.0, running' })
  })

  test('tells sizes and versions as people read them', async () => {
    const { checks } = await examine()
    expect(checks.disk?.detail).toMatch(/^\d+(\.\d)? (GB|TB) free at \//)
    expect(checks['runtime.node']?.detail).toBe('run on Node 26.1.0')
    expect(checks['runtime.python']?.detail).toBe('run on Python 3.11.7, with Node 26.1.0 beside it')
  })

  test('names an image of the operator as what packages run on', async () => {
    const { checks } = await examine({}, 'images:\n  node: example.com/node:1\n')
    expect(checks['runtime.node']?.detail).toBe('run on the image example.com/node:1, by pkgd.yaml')
  })
})

describe('the home', () => {
  test.each<[string, () => string, number]>([
    ['that others may look into', () => home.root, 0o755],
    ['whose token others may read', () => home.token, 0o644],
  ])('%s is an error with the command that ends it', async (_name, path, mode) => {
    chmodSync(path(), mode)
    const { status, checks } = await examine()
    expect(status).toBe('error')
    expect(checks.home).toMatchObject({ status: 'error', hint: `chmod go-rwx ${path()}` })
  })

  test('with a configuration that became invalid', async () => {
    const { checks } = await examine({
      configProblem: () => new PkgdError('CONFIG_INVALID', '/port must be a number', { hint: 'write one' }),
    })
    expect(checks.config).toMatchObject({ status: 'error', detail: expect.stringContaining('/port must be a number'), hint: 'write one' })
  })

  test('with a configuration that has several faults, all of which are told', async () => {
    const issues = [
      { pointer: '/limits/foo', message: '"foo" is not a known key' },
      { pointer: '/registries', message: 'must be array' },
    ]
    const { checks } = await examine({
      configProblem: () => new PkgdError('CONFIG_INVALID', 'pkgd.yaml: /limits/foo (and 1 more)', { issues }),
    })
    expect(checks.config?.detail).toContain('/limits/foo: "foo" is not a known key; /registries: must be array')
  })

  test('with a database that was set aside and not repaired', async () => {
    for (const name of ['', '-wal']) writeFileSync(`${home.state}.damaged-20260101T000000Z${name}`, '', { mode: 0o600 })
    const { status, checks } = await examine({ state: { restored: true } })
    expect(status).toBe('error')
    expect(checks.state).toMatchObject({ status: 'error', hint: expect.stringContaining('pkg doctor --repair') })
    expect(checks.state?.detail).toContain('(state.db.damaged-20260101T000000Z')
  })

  test('with a damaged lockfile, and with one that was', async () => {
    writeFileSync(home.lockfile, '{')
    expect((await examine()).checks.lockfile).toMatchObject({ status: 'warning', hint: expect.stringContaining('next install') })
    writeFileSync(`${home.lockfile}.damaged-20260101T000000Z`, '{')
    writeFileSync(home.lockfile, '{"lockfile_version":1,"packages":{}}')
    const { status, checks } = await examine()
    expect(checks.lockfile).toMatchObject({
      status: 'warning',
      hint: `compare the two, then remove it: rm ${home.lockfile}.damaged-20260101T000000Z`,
    })
    expect(status).toBe('warning')
  })
})

describe('a package', () => {
  const lastError = { code: 'PACKAGE_CRASHED', message: 'it exited with code 3', at: '2026-01-01T00:00:00Z' }

  test.each<[string, Partial<PackageStatus>, Check['status'], string]>([
    ['that is unhealthy', { health: 'unhealthy' }, 'warning', '1.0.0, running but unhealthy'],
    ['that is being restarted', { state: 'backoff', lastError }, 'warning', '1.0.0, backoff, to be started again: it exited with code 3'],
    ['that failed', { state: 'failed', reason: 'crash-loop', lastError }, 'error', '1.0.0, failed (crash-loop): it exited with code 3'],
    ['that was stopped', { state: 'stopped', desired: 'stopped', lastError }, 'ok', '1.0.0, stopped'],
  ])('%s', async (_name, status, verdict, detail) => {
    const { checks } = await examine({ lifecycle: { list: () => [installed(status)] } })
    expect(checks['package.weather']).toMatchObject({ status: verdict, detail })
    if (verdict !== 'ok') expect(checks['package.weather']?.hint).toContain('pkg logs weather')
  })

  test('whose files differ, or cannot be compared', async () => {
    const lifecycle = { list: () => [installed()] }
    const differs = await examine({
      lifecycle,
      store: {
        verify: async () => [
          { path: 'a.js', problem: 'changed' },
          { path: 'b.js', problem: 'missing' },
        ],
      },
    })
    expect(differs.checks['package.weather']).toMatchObject({
      status: 'error',
      detail: 'installed files differ: a.js is changed and 1 more',
    })
    const fails = await examine({
      lifecycle,
      store: {
        verify: async () => {
          throw new PkgdError('TREE_CHANGED', 'its record cannot be read')
        },
      },
    })
    expect(fails.checks['package.weather']).toMatchObject({ status: 'error', detail: expect.stringContaining('its record cannot be read') })
  })

  test('that is gone and left its data is named, and nothing is wrong with it', async () => {
    await driver.volumes.ensure('gone', 200_000)
    await driver.volumes.ensure('weather', 200_001)
    const { checks } = await examine({ lifecycle: { list: () => [installed()] } })
    expect(checks['kept-data']).toMatchObject({
      status: 'ok',
      detail: 'of gone, uninstalled',
      hint: 'to remove it: pkg uninstall gone --purge',
    })
  })
})

test('an engine that is gone is an error, and does not stop the other checks', async () => {
  const away = { ...driver, capabilities: () => Promise.reject(new PkgdError('ENGINE_UNREACHABLE', 'the engine does not answer')) }
  const { status, checks } = await examine({ driver: away, lifecycle: { list: () => [installed()] } })
  expect(status).toBe('error')
  expect(checks.driver).toMatchObject({ status: 'error', detail: expect.stringContaining('the engine does not answer') })
  expect(checks.limits?.status).toBe('warning')
  expect(checks['package.weather']?.status).toBe('ok')
})
