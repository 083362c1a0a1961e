import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createCleanups } from '../../../daemon/core/disposables.ts'
import { locateHome } from '../../../daemon/core/home.ts'
import { type Logger, systemClock } from '../../../daemon/core/ports.ts'
import { createBubblewrapDriver } from '../../../sandbox/bubblewrap/bubblewrapDriver.ts'
import { createDockerDriver } from '../../../sandbox/docker/dockerDriver.ts'
import { createImageBuilder } from '../../../sandbox/images/imageBuilder.ts'
import { createEgressGuard } from '../../../sandbox/network/egressGuard.ts'
import type { LaunchSpec, SandboxDriver, SandboxHandle } from '../../../sandbox/sandboxDriver.ts'
import { openNamedPipes } from '../../../sandbox/stdio/namedPipes.ts'
import { startProgram } from '../../fixtures/servers/startProgram.ts'
import { missing } from '../../provision/requirements.ts'

const program = 'stdioProgram.mjs'
const programs = join(import.meta.dirname, '../../fixtures/programs')

/** Which driver makes the sandbox, and how stdio gets into it. */
export type SandboxPlane = 'docker pipes' | 'docker attach' | 'bubblewrap pipes'

/** Where a channel can be opened from any process: what one daemon leaves to the next. */
export type ChannelAddress = { readonly kind: 'pipes'; readonly directory: string } | SandboxAddress

interface SandboxAddress {
  readonly kind: 'sandbox'
  readonly plane: SandboxPlane
  readonly root: string
  readonly daemonId: string
  readonly handle: SandboxHandle
}

/** A program on the other end of a data plane. */
interface StdioSubject extends AsyncDisposable {
  readonly address: ChannelAddress
  open(): Promise<Duplex>
}

/** One data plane with everything around it. */
export interface StdioRig extends AsyncDisposable {
  start(behaviour: string): Promise<StdioSubject>
}

export interface StdioPlane {
  readonly name: string
  /** Why it cannot run here, or null. */
  readonly unavailable: string | null
  /** Whether what is written while nobody has the channel waits for the next one who opens it. */
  readonly keepsOutput: boolean
  open(): Promise<StdioRig>
}

const noDocker = await missing('docker')
const noBubblewrap = await missing('bubblewrap', 'root')

/** Every data plane that there is. */
export const stdioPlanes: readonly StdioPlane[] = [
  { name: 'named pipes, bare child', unavailable: null, keepsOutput: true, open: async () => createBareRig() },
  { name: 'named pipes, container', unavailable: noDocker, keepsOutput: true, open: () => createSandboxRig('docker pipes') },
  { name: 'named pipes, bubblewrap', unavailable: noBubblewrap, keepsOutput: true, open: () => createSandboxRig('bubblewrap pipes') },
  { name: 'engine attach, container', unavailable: noDocker, keepsOutput: false, open: () => createSandboxRig('docker attach') },
]

export async function openChannel(address: ChannelAddress): Promise<Duplex> {
  if (address.kind === 'pipes') return openNamedPipes(address.directory)
  return createDriver(address).stdio(address.handle)
}

function createBareRig(): StdioRig {
  return {
    async start(behaviour) {
      const running = await startProgram([process.execPath, join(programs, program), behaviour])
      return {
        address: { kind: 'pipes', directory: running.directory },
        open: running.open,
        [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
      }
    },
    async [Symbol.asyncDispose]() {},
  }
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

function createDriver({ plane, root, daemonId }: Pick<SandboxAddress, 'plane' | 'root' | 'daemonId'>): SandboxDriver {
  const home = locateHome({ PKGD_HOME: join(root, 'home') })
  const deps = {
    home,
    daemonId,
    trees: { locate: () => join(root, 'tree') },
    images: createImageBuilder({ directory: home.images, log: silent }),
    egress: createEgressGuard({ daemonId, pool: '10.213.0.0/16', allowPrivate: [], resolvers: [], clock: systemClock, log: silent }),
    log: silent,
    clock: systemClock,
  }
  if (plane === 'bubblewrap pipes') return createBubblewrapDriver(deps)
  return createDockerDriver({ ...deps, imageReferences: {}, stdio: plane === 'docker attach' ? 'attach' : 'auto' })
}

/** A driver of its own in a home of its own; disposing removes its sandboxes. */
export async function createSandboxRig(plane: SandboxPlane): Promise<StdioRig> {
  const root = await mkdtemp(join(tmpdir(), 'pkgd-stdio-'))
  const daemonId = randomBytes(4).toString('hex')
  const driver = createDriver({ plane, root, daemonId })
  const cleanups = createCleanups()
  cleanups.add(() => rm(root, { recursive: true }))
  cleanups.add(async () => driver[Symbol.asyncDispose]())
  const tree = join(root, 'tree')
  await cp(programs, tree, { recursive: true })
  for (const path of [root, tree]) await chmod(path, 0o755)
  await chmod(join(tree, program), 0o644)
  const context = { signal: new AbortController().signal, progress() {} }
  const image = await driver.prepareImage({ runtime: 'node' }, context)

  return {
    async start(behaviour) {
      const spec: LaunchSpec = {
        identity: { daemon: daemonId, packageId: `stdio-${behaviour}`, version: '1.0.0', spec: 'contract' },
        image,
        tree: 'programs',
        command: ['node', `/app/${program}`, behaviour],
        env: {},
        uid: 200_900,
        limits: { memoryBytes: 256 << 20, cpus: 1, pids: 64, tmpBytes: 16 << 20 },
        network: { mode: 'none' },
        mounts: [],
        data: null,
        logBytes: 1 << 20,
        allowUnenforced: [],
      }
      const { handle } = await driver.launch(spec, context)
      const destroy = () => driver.destroy(handle)
      cleanups.add(destroy)
      return {
        address: { kind: 'sandbox', plane, root, daemonId, handle },
        open: () => driver.stdio(handle),
        [Symbol.asyncDispose]: destroy,
      }
    },
    [Symbol.asyncDispose]: cleanups.run,
  }
}
