import type { DriverCapabilities, SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import type { Info } from '../api/schemas/info.ts'
import type { Config } from '../config/config.ts'
import { toPkgdError } from '../core/errors.ts'
import type { Home } from '../core/home.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { McpService } from '../mcp/mcpService.ts'
import type { State } from '../store/state.ts'

interface DescribeDeps {
  readonly version: string
  readonly startedAt: string
  readonly url: () => string | null
  readonly home: Home
  readonly state: Pick<State, 'daemonId' | 'restored'>
  readonly config: () => Config
  readonly driver: SandboxDriver
  readonly lifecycle: Pick<Lifecycle, 'list'>
  readonly mcp: Pick<McpService, 'tools'>
}

function toDriverView(name: string, found: DriverCapabilities | Error): Info['driver'] {
  if (found instanceof Error) return { name, state: 'degraded', reason: found.message, capabilities: null }
  const { driver, version, stdio, freeze, localMounts, adoption, unenforced, network, networkRefused, notes } = found
  return {
    name,
    state: 'ready',
    reason: null,
    capabilities: {
      driver,
      version,
      stdio,
      freeze,
      localMounts,
      adoption,
      unenforced: { ...unenforced },
      network: [...network],
      networkRefused: { ...networkRefused },
      notes: [...notes],
    },
  }
}

/** The driver as it is now: an engine that does not answer makes it degraded, and says why. */
export async function describeDriver(driver: SandboxDriver): Promise<Info['driver']> {
  try {
    return toDriverView(driver.name, await driver.capabilities())
  } catch (error) {
    return toDriverView(driver.name, toPkgdError(error))
  }
}

/** What `GET /v1/info` answers. */
export async function describeDaemon(deps: DescribeDeps): Promise<Info> {
  const { home, state, lifecycle, mcp } = deps
  const config = deps.config()
  const packages = lifecycle.list()
  const { memoryBytes, cpus, pids, tmpBytes } = config.limits.max
  return {
    version: deps.version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    pid: process.pid,
    startedAt: deps.startedAt,
    url: deps.url(),
    socket: home.socket,
    home: home.root,
    daemonId: state.daemonId,
    driver: await describeDriver(deps.driver),
    counts: {
      packages: packages.length,
      running: packages.filter(({ status }) => status.state === 'running').length,
      failed: packages.filter(({ status }) => status.state === 'failed').length,
      tools: mcp.tools().length,
    },
    ceiling: { memoryBytes, cpus, pids, tmpBytes },
    allowUnenforced: [...config.limits.allowUnenforced],
    restored: state.restored,
  }
}
