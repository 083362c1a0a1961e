import { locateHome } from '../../../daemon/core/home.ts'
import { systemClock } from '../../../daemon/core/ports.ts'
import { createBubblewrapDriver } from '../../../sandbox/bubblewrap/bubblewrapDriver.ts'
import { createImageBuilder } from '../../../sandbox/images/imageBuilder.ts'
import { createEgressGuard } from '../../../sandbox/network/egressGuard.ts'
import { plainContext } from './driverBench.ts'
import { silentLog } from './silentLog.ts'

/**
 * A daemon that is there to be killed: starts one package and one build on the home that it is given, says the package's handle, and waits.
 * argv: home, daemon id, tree.
 */
const [root = '', daemonId = '', tree = ''] = process.argv.slice(2)
const home = locateHome({ PKGD_HOME: root })
const driver = createBubblewrapDriver({
  home,
  daemonId,
  trees: { locate: () => tree },
  images: createImageBuilder({ directory: home.images, log: silentLog }),
  egress: createEgressGuard({
    daemonId,
    pool: '10.214.0.0/16',
    allowPrivate: [],
    resolvers: ['198.51.100.7'],
    clock: systemClock,
    log: silentLog,
  }),
  log: silentLog,
  clock: systemClock,
})
const identity = { daemon: daemonId, packageId: 'survivor', version: '1.0.0', spec: 'contract' }
const image = await driver.prepareImage({ runtime: 'node' }, plainContext())
const limits = { memoryBytes: 128 << 20, cpus: 0.5, pids: 64, tmpBytes: 16 << 20 }
const common = { identity, image, env: {}, uid: 210_000, limits, mounts: [] }
const { handle } = await driver.launch(
  {
    ...common,
    tree: 'contract',
    command: ['node', 'echo.mjs'],
    network: { mode: 'internet' },
    data: null,
    logBytes: 1 << 20,
    allowUnenforced: [],
  },
  plainContext(),
)
const reach = [{ host: '198.51.100.7', port: 443 }]
driver.runToEnd({ ...common, command: ['sleep', '600'], reach }, plainContext()).catch(() => undefined)
process.stdout.write(`${JSON.stringify(handle)}\n`)
setInterval(() => undefined, 1000)
