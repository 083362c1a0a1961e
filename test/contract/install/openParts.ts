import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../../daemon/config/config.ts'
import { parseConfig } from '../../../daemon/config/parseConfig.ts'
import { type Home, locateHome } from '../../../daemon/core/home.ts'
import { type Logger, systemClock } from '../../../daemon/core/ports.ts'
import { createEventBus } from '../../../daemon/events/createEventBus.ts'
import { createInstaller } from '../../../daemon/install/createInstaller.ts'
import { readPipConfig } from '../../../daemon/install/dependencies/pypi/readPipConfig.ts'
import type { InstallRequest } from '../../../daemon/install/installer.ts'
import { toLaunchPlan } from '../../../daemon/install/toLaunchPlan.ts'
import { createLifecycle } from '../../../daemon/lifecycle/createLifecycle.ts'
import { openState } from '../../../daemon/store/openState.ts'
import type { State } from '../../../daemon/store/state.ts'
import { createFetcher } from '../../../registry/fetch/createFetcher.ts'
import { createRemote } from '../../../registry/fetch/createRemote.ts'
import { createPypiIndex } from '../../../registry/fetch/pypi/pypiIndex.ts'
import { createResolver } from '../../../registry/resolve/createResolver.ts'
import { createPackageStore } from '../../../registry/store/createPackageStore.ts'
import type { PackageStore } from '../../../registry/store/packageStore.ts'
import { createFakeDriver } from '../../../sandbox/fake/fakeDriver.ts'
import { createFakeEngine, type FakeEngine } from '../../../sandbox/fake/fakeEngine.ts'
import { echoLines } from '../../../sandbox/fake/fakePrograms.ts'
import type { SandboxDriver } from '../../../sandbox/sandboxDriver.ts'
import { createLineHost } from '../../unit/daemon/lifecycle/lineHost.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

export interface PartsOptions {
  readonly engine?: FakeEngine
  /** Instead of the fake driver. */
  readonly openDriver?: (deps: { home: Home; state: State; store: PackageStore; log: Logger }) => SandboxDriver
  readonly yaml?: string
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** One daemon's install on a home, with the real state, store, resolvers, fetchers and lifecycle. */
export async function openParts(root: string, options: PartsOptions = {}) {
  const { env = process.env } = options
  const home = locateHome({ PKGD_HOME: root })
  for (const path of [home.root, home.tmp, home.cache, home.run]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const defaults = { hostMemoryBytes: 8 * 1024 ** 3, hostCpus: 2, shippedPackages: join(root, 'shipped'), homeRoot: root }
  const config: Config = await parseConfig({ text: options.yaml ?? '', env: {}, dotenv: {}, defaults })
  const clock = systemClock
  const state = openState({ home, clock, log: silent })
  const store = createPackageStore({ directory: home.store })
  const engine = options.engine ?? createFakeEngine({ programs: { node: echoLines, python: echoLines } })
  const driver = options.openDriver?.({ home, state, store, log: silent }) ?? createFakeDriver({ engine, daemon: state.daemonId })
  const bus = createEventBus({ events: state.events, source: 'test', keep: () => config.events, clock, log: silent })
  const remote = createRemote({ cache: home.cache, limits: config.limits, env, clock, retryAfterMs: [] })
  const pypi = createPypiIndex({ readSources: () => readPipConfig(env), client: remote.client, cache: remote.metadata })
  const resolver = createResolver({
    remote,
    pypi,
    limits: config.limits,
    registries: () => config.registries,
    tmp: home.tmp,
    env,
    pythonMinor: async () => null,
  })
  const fetchInto = createFetcher({ remote, pypi, limits: config.limits, tmp: home.tmp, env })
  const lifecycle = createLifecycle({
    state,
    driver,
    store,
    hosts: { 'mcp-server': createLineHost(), 'a2a-agent': null, 'internal-hook': null },
    bus,
    config: () => config,
    clock,
    random: Math.random,
    log: silent,
    planLaunch: (record) => toLaunchPlan(record, (name) => state.secrets.get(record.id, name)),
  })
  const installer = createInstaller({
    state,
    home,
    config: () => config,
    lifecycle,
    driver,
    store,
    resolver,
    fetchInto,
    remote,
    env,
    events: bus,
    hosted: new Set(['mcp-server']),
    logger: silent,
    clock,
  })
  const settled = await installer.recover()
  await store.settled()
  await lifecycle.open()
  return {
    home,
    state,
    store,
    engine,
    driver,
    lifecycle,
    installer,
    /** Jobs that were settled at the start. */
    settled,
    async [Symbol.asyncDispose]() {
      await lifecycle[Symbol.asyncDispose]()
      await driver[Symbol.asyncDispose]()
      await store.settled()
      state[Symbol.dispose]()
    },
  }
}

export type Parts = Awaited<ReturnType<typeof openParts>>

export const requestOf = (spec: string, changes: Partial<InstallRequest> = {}): InstallRequest => ({
  spec,
  args: [],
  env: {},
  secrets: {},
  permissions: {},
  consent: false,
  start: false,
  frozen: false,
  ...changes,
})

let jobs = 0

/** A job's context; `stages` collects what it reports. */
export function jobContext(onStage: (stage: string) => void = () => {}) {
  jobs += 1
  return {
    jobId: `job-${process.pid}-${jobs}`,
    signal: new AbortController().signal,
    progress: ({ stage }: { stage: string }) => onStage(stage),
  }
}
