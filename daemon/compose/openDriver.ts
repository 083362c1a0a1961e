import type { ImageBuilder } from '../../sandbox/images/imageBuilder.ts'
import type { EgressGuard } from '../../sandbox/network/egressGuard.ts'
import type { SandboxDriver, TreeSource } from '../../sandbox/sandboxDriver.ts'
import type { Config } from '../config/config.ts'
import { PkgdError, toPkgdError } from '../core/errors.ts'
import type { Home } from '../core/home.ts'
import type { Clock, Logger } from '../core/ports.ts'
import type { State } from '../store/state.ts'

interface DriverDeps {
  readonly home: Home
  readonly state: State
  readonly config: Config
  readonly trees: TreeSource
  readonly images: ImageBuilder
  readonly egress: EgressGuard
  readonly clock: Clock
  readonly log: Logger
}

type DriverName = Exclude<Config['driver'], 'auto'>

/** Where the choice of `auto` is kept: it is made once for a home. */
const chosenKey = 'driver.chosen'

/** One entry a driver; each is loaded only where it is used. */
const loaders = {
  docker: async () => (await import('../../sandbox/docker/dockerDriver.ts')).createDockerDriver,
  bubblewrap: async () => (await import('../../sandbox/bubblewrap/bubblewrapDriver.ts')).createBubblewrapDriver,
} satisfies Record<DriverName, () => Promise<unknown>>

const drivers: Record<DriverName, (deps: DriverDeps) => Promise<SandboxDriver>> = {
  async docker({ home, state, config, trees, images, egress, clock, log }) {
    const createDriver = await loaders.docker()
    return createDriver({ home, daemonId: state.daemonId, trees, images, imageReferences: config.images, egress, clock, log })
  },
  async bubblewrap({ home, state, trees, images, egress, clock, log }) {
    const createDriver = await loaders.bubblewrap()
    return createDriver({ home, daemonId: state.daemonId, trees, images, egress, clock, log })
  },
}

/** Loads the code of every driver, makes none. */
export async function loadDrivers(): Promise<void> {
  for (const load of Object.values(loaders)) await load()
}

const order: readonly DriverName[] = ['docker', 'bubblewrap']

async function isUsable(driver: SandboxDriver): Promise<string | null> {
  try {
    await driver.capabilities()
    return null
  } catch (error) {
    return toPkgdError(error).message
  }
}

/** The first that works here. Errors: DRIVER_UNAVAILABLE with what each of them lacks. */
async function choose(deps: DriverDeps): Promise<SandboxDriver> {
  const lacks: string[] = []
  for (const name of order) {
    const driver = await drivers[name](deps)
    const lack = await isUsable(driver)
    if (lack === null) {
      deps.state.meta.put(chosenKey, name)
      deps.log.info('the sandbox driver was chosen for this home', { driver: name })
      return driver
    }
    await driver[Symbol.asyncDispose]()
    lacks.push(`${name}: ${lack}`)
  }
  throw new PkgdError('DRIVER_UNAVAILABLE', `No sandbox driver can run here (${lacks.join('; ')})`, {
    hint: 'install Docker (or another engine with its API), or bubblewrap, and start the daemon again',
  })
}

/** The driver that the configuration names, else the one this home has always had, else the first that works. An engine that is away changes nothing. */
export async function openDriver(deps: DriverDeps): Promise<SandboxDriver> {
  if (deps.config.driver !== 'auto') return drivers[deps.config.driver](deps)
  const chosen = order.find((name) => name === deps.state.meta.get(chosenKey))
  return chosen === undefined ? choose(deps) : drivers[chosen](deps)
}
