import { randomBytes } from 'node:crypto'
import { createImageBuilder } from '../sandbox/images/imageBuilder.ts'
import { createEgressGuard } from '../sandbox/network/egressGuard.ts'
import type { SandboxDriver } from '../sandbox/sandboxDriver.ts'
import { createApi } from './api/createApi.ts'
import { listen } from './api/listen.ts'
import { openDriver } from './compose/openDriver.ts'
import { openRegistry } from './compose/openRegistry.ts'
import { createConfigSource } from './config/createConfigSource.ts'
import { PkgdError } from './core/errors.ts'
import type { Home } from './core/home.ts'
import { type Clock, systemClock } from './core/ports.ts'
import { describeDaemon } from './doctor/describeDaemon.ts'
import { diagnose } from './doctor/diagnose.ts'
import { createEventBus } from './events/createEventBus.ts'
import { writeDaemonFile } from './home/daemonFile.ts'
import { acquireDaemonLock } from './home/daemonLock.ts'
import { prepareHome } from './home/prepareHome.ts'
import { loadToken } from './home/tokenFile.ts'
import { createInstaller } from './install/createInstaller.ts'
import { toLaunchPlan } from './install/toLaunchPlan.ts'
import { createJobRunner } from './jobs/createJobRunner.ts'
import { keepMemoryLow } from './keepMemoryLow.ts'
import { createLifecycle } from './lifecycle/createLifecycle.ts'
import type { Lifecycle } from './lifecycle/lifecycle.ts'
import type { AdjustableLogger } from './log/createLogger.ts'
import { createMcpHost } from './mcp/mcpHost.ts'
import { createFrameBudget } from './rpc/frameBudget.ts'
import { openState } from './store/openState.ts'

interface DaemonDeps {
  readonly home: Home
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: AdjustableLogger
  readonly clock?: Clock
  /** Another driver in place of the configured one: the fake one, in tests. */
  readonly openDriver?: (deps: Parameters<typeof openDriver>[0]) => Promise<SandboxDriver>
}

export interface Daemon extends AsyncDisposable {
  readonly url: string
  readonly pid: number
}

/** Unfinished frames of all packages together may hold this many times the largest one. */
const framesAtOnce = 4

/**
 * The composition root: the only place that knows every adapter. Resolves when the API answers and what ran before is adopted. Disposing it leaves the packages
 * running for the next daemon. What was opened is closed in reverse, also when a later step fails.
 * Errors: DAEMON_ALREADY_RUNNING, CONFIG_INVALID, STATE_TOO_NEW, DRIVER_UNAVAILABLE, PORT_IN_USE, DISK_FULL.
 */
export async function createDaemon({ home, version, env, log, clock = systemClock, ...over }: DaemonDeps): Promise<Daemon> {
  await using opened = new AsyncDisposableStack()
  await prepareHome(home)
  opened.use(acquireDaemonLock(home))
  const source = opened.use(await createConfigSource({ home, env, clock, log }))
  const config = source.current
  log.setThreshold(config().log)
  const token = loadToken(home, env)
  const state = opened.use(openState({ home, clock, log }))
  const { daemonId } = state
  const events = createEventBus({ events: state.events, source: `/pkgd/${daemonId}`, keep: () => config().events, clock, log })
  source.watch((outcome) => {
    log.setThreshold(config().log)
    events.publish('config.reloaded', 'pkgd.yaml', outcome)
  })
  const jobs = createJobRunner({ jobs: state.jobs, events, clock, log })

  const { pool, allowPrivate, resolvers } = config().network
  const egress = createEgressGuard({ daemonId, pool, allowPrivate, resolvers, clock, log: log.child({ part: 'network' }) })
  opened.defer(() => egress.close())
  const images = createImageBuilder({ directory: home.images, log: log.child({ part: 'images' }), env })
  const registry = openRegistry({ home, config, images, env, clock })
  const { store } = registry
  const driverDeps = { home, state, config: config(), trees: store, images, egress, clock, log: log.child({ part: 'driver' }) }
  const driver = opened.use(await (over.openDriver ?? openDriver)(driverDeps))

  const { frameBytes } = config().limits
  const mcp = createMcpHost({
    state,
    events,
    log,
    clock,
    clientInfo: { name: 'pkgd', version },
    idPrefix: `${randomBytes(4).toString('hex')}-`,
    maxFrameBytes: frameBytes,
    budget: createFrameBudget(frameBytes * framesAtOnce),
    callTimeoutMs: () => config().calls.timeoutMs,
    ensureRunning: (id, signal) => lifecycle.ensureRunning(id, signal),
  })
  const hosts = { 'mcp-server': mcp.host, 'a2a-agent': null, 'internal-hook': null }
  const lifecycle: Lifecycle = createLifecycle({
    state,
    driver,
    store,
    hosts,
    bus: events,
    config,
    clock,
    random: Math.random,
    log: log.child({ part: 'lifecycle' }),
    planLaunch: (record) => toLaunchPlan(record, (name) => state.secrets.get(record.id, name)),
  })
  opened.use(lifecycle)
  const installer = createInstaller({
    state,
    home,
    config,
    lifecycle,
    driver,
    store,
    resolver: registry.resolver,
    fetchInto: registry.fetchInto,
    events,
    hosted: new Set(['mcp-server']),
    remote: registry.remote,
    logger: log.child({ part: 'install' }),
    clock,
  })
  await installer.recover()
  await lifecycle.open()
  opened.defer(() => jobs.close())

  const closing = new AbortController()
  const startedAt = new Date(clock.now()).toISOString()
  let url: string | null = null
  const api = createApi({
    version,
    token,
    bodyLimit: frameBytes,
    clock,
    log: log.child({ part: 'api' }),
    closing: closing.signal,
    lifecycle,
    installer,
    mcp: mcp.service,
    jobs,
    events,
    store,
    info: () => describeDaemon({ version, startedAt, url: () => url, home, state, config, driver, lifecycle, mcp: mcp.service }),
    diagnose: () => diagnose({ home, state, config, configProblem: source.problem, driver, images, store, lifecycle }),
    async repair() {
      state.markRepaired()
      return lifecycle.sweep()
    },
    async search(text, signal) {
      const found = await registry.search(text, { signal, progress: () => undefined })
      for (const failure of found.failures) log.warn('a registry could not be searched', failure)
      return found
    },
  })
  const listening = opened.use(await listen(api, { port: config().port, socket: home.socket }))
  opened.defer(() => closing.abort(new PkgdError('OPERATION_CANCELLED', 'The daemon is stopping')))
  url = listening.url
  opened.use(writeDaemonFile(home, { url, version }))
  opened.use(keepMemoryLow({ events, clock }))
  log.info('the daemon is ready', { url, version, driver: driver.name, packages: lifecycle.list().length })

  const everything = opened.move()
  return { url, pid: process.pid, [Symbol.asyncDispose]: () => everything.disposeAsync() }
}
