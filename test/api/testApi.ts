import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Api, ApiDeps } from '../../daemon/api/api.ts'
import { createApi } from '../../daemon/api/createApi.ts'
import { PkgdError } from '../../daemon/core/errors.ts'
import { locateHome } from '../../daemon/core/home.ts'
import { systemClock } from '../../daemon/core/ports.ts'
import type { PackageState } from '../../daemon/core/types.ts'
import { createEventBus } from '../../daemon/events/createEventBus.ts'
import type { EventBus } from '../../daemon/events/eventBus.ts'
import type { InstallRequest } from '../../daemon/install/installer.ts'
import { createJobRunner } from '../../daemon/jobs/createJobRunner.ts'
import type { PackageView } from '../../daemon/lifecycle/lifecycle.ts'
import { openState } from '../../daemon/store/openState.ts'
import { parseManifest } from '../../registry/manifest/parseManifest.ts'
import type { SandboxReport } from '../../sandbox/sandboxDriver.ts'
import { createMemoryLog } from '../unit/daemon/manual.ts'

export const token = 'the-token-of-the-test'
export const authorization = { authorization: `Bearer ${token}` }

const reading = (asked: number) => ({ asked, engine: asked, effective: asked, enforced: true })
const report: SandboxReport = {
  limits: { memory: reading(268435456), cpu: reading(1), pids: reading(128), tmp: { ...reading(67108864), effective: null } },
  readOnlyRoot: true,
  capabilities: [],
  noNewPrivileges: true,
  seccomp: true,
  user: '200000:200000',
  init: true,
  network: 'none',
  image: 'sha256:abc',
}

/** An installed package as lifecycle would show it. */
export function createPackage(id: string, state: PackageState = 'running'): PackageView {
  const manifest = parseManifest({ id, name: id, version: '1.2.3', type: 'mcp-server', mcp: { command: 'node', args: ['server.js'] } })
  return {
    record: {
      id,
      version: '1.2.3',
      manifest,
      manifestOrigin: 'file',
      resolution: { kind: 'folder', path: `/src/${id}` },
      tree: 'sha512-1',
      command: ['node', 'server.js'],
      env: { UNITS: 'a-value-that-stays-inside' },
      secrets: ['KEY'],
      grants: {
        network: { mode: 'allow', targets: [{ host: 'api.example.com', port: 443 }] },
        data: false,
        mounts: [{ source: '/docs', target: '/docs', readOnly: true }],
        limits: { memoryBytes: 268435456, cpus: 1, pids: 128, tmpBytes: 67108864 },
      },
      uid: 200000,
      installedAt: '2026-01-01T00:00:00.000Z',
    },
    status: {
      desired: 'running',
      state,
      reason: null,
      health: 'healthy',
      lastError: null,
      restarts: [],
      wasReady: true,
      since: '2026-01-01T00:00:00.000Z',
    },
    sandbox:
      state === 'running'
        ? {
            packageId: id,
            handle: { driver: 'fake', id: 'c1', name: 'pkgd-1' },
            spec: 's',
            report,
            launchedAt: '2026-01-01T00:00:00.000Z',
            session: null,
          }
        : null,
  }
}

interface TestApi extends AsyncDisposable {
  readonly app: Api
  readonly events: EventBus
  readonly packages: Map<string, PackageView>
  readonly installs: InstallRequest[]
  /** What `install` throws, if anything. */
  fail: Error | null
  /** What an install waits for before it begins. */
  before: () => Promise<void>
  /** Packages that are gone and left data. */
  readonly keptData: Set<string>
  readonly log: ReturnType<typeof createMemoryLog>
  readonly close: AbortController
}

/** The whole API over a real store, real jobs and real events; packages and their tools are the test's. */
export function createTestApi(over: Partial<ApiDeps> = {}): TestApi {
  const root = mkdtempSync(join(tmpdir(), 'pkgd-api-'))
  const log = createMemoryLog()
  const clock = systemClock
  const state = openState({ home: locateHome({ PKGD_HOME: root }), clock, log })
  const events = createEventBus({
    events: state.events,
    source: '/pkgd/test',
    keep: () => ({ keepMs: 3600_000, keepAtMost: 1000 }),
    clock,
    log,
  })
  const jobs = createJobRunner({ jobs: state.jobs, events, clock, log })
  const packages = new Map<string, PackageView>()
  const installs: InstallRequest[] = []
  const close = new AbortController()
  const get = (id: string) => {
    const found = packages.get(id)
    if (!found) throw new PkgdError('PACKAGE_NOT_FOUND', `There is no package "${id}"`, { hint: 'did you mean "weather"?' })
    return found
  }
  const move = (id: string, to: PackageState) => {
    const moved = { ...createPackage(id, to) }
    packages.set(id, moved)
    return moved
  }
  const test: Omit<TestApi, 'app'> = {
    events,
    packages,
    installs,
    fail: null,
    before: async () => undefined,
    keptData: new Set(),
    log,
    close,
    async [Symbol.asyncDispose]() {
      close.abort()
      await app.close()
      await jobs.close()
      state[Symbol.dispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
  const app = createApi({
    version: '0.0.1',
    token,
    bodyLimit: 64 * 1024,
    clock,
    log,
    closing: close.signal,
    jobs,
    events,
    lifecycle: {
      list: () => [...packages.values()],
      get,
      start: async (id) => move(id, 'running'),
      stop: async (id) => move(id, 'stopped'),
      restart: async (id) => move(id, 'running'),
      async *logs(id, { tail = 3, signal, follow }) {
        get(id)
        for (let n = 3 - tail; n < 3; n++) yield { time: '2026-01-01T00:00:00Z', stream: 'stderr' as const, line: `line ${n}` }
        if (follow) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      stats: async () => ({ memoryBytes: 1, memoryLimitBytes: 2, cpuSeconds: 3, pids: 4, networkRxBytes: 5, networkTxBytes: 6 }),
    },
    installer: {
      async install(request, { progress }) {
        installs.push(request)
        progress({ stage: 'fetch', fraction: 0.5 })
        await test.before()
        if (test.fail) throw test.fail
        return { package: move('weather', 'stopped'), installed: ['weather'], unchanged: [], kept: [] }
      },
      installLocked: async () => [],
      keepsData: async (id) => test.keptData.has(id),
      async uninstall(id, { purge }) {
        packages.delete(id)
        if (purge) test.keptData.delete(id)
        return { id, keptData: null }
      },
    },
    mcp: {
      tools: (id) =>
        [...packages.keys()]
          .filter((each) => id === undefined || each === id)
          .flatMap((each) => ['b', 'a'].map((name) => ({ package: each, name, inputSchema: { type: 'object' as const }, 'x-extra': 1 }))),
      resources: () => [],
      resourceTemplates: () => [],
      prompts: () => [],
      async callTool(packageId, name, args, { signal }) {
        if (name === 'crash') throw new PkgdError('PACKAGE_CRASHED', `${packageId} was killed by its memory limit`)
        if (name === 'bug') throw new Error('a secret internal detail')
        if (name === 'hang') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        return { content: [{ type: 'text', text: JSON.stringify(args) }], isError: name === 'wrong' }
      },
      readResource: async (_, uri) => ({ contents: [{ uri, text: 'text' }] }),
      getPrompt: async () => ({ messages: [] }),
      complete: async () => ({ completion: { values: ['x'] } }),
    },
    store: { verify: async () => [{ path: 'server.js', problem: 'changed' }] },
    info: async () => {
      throw new Error('not asked for here')
    },
    diagnose: async () => ({ status: 'ok', checks: [] }),
    repair: async () => ['1 sandbox'],
    search: async (text) => ({
      results: Array.from({ length: 250 }, (_, n) => ({
        id: `${text}${n}`,
        name: '',
        version: '1.0.0',
        type: 'mcp-server',
        description: '',
        spec: '',
        registry: '',
      })),
      failures: [],
    }),
    ...over,
  })
  return Object.assign(test, { app })
}
