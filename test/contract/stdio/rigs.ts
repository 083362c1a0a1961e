import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createCleanups } from '../../../daemon/core/disposables.ts'
import { locateHome } from '../../../daemon/core/home.ts'
import { type Logger, systemClock } from '../../../daemon/core/ports.ts'
import { createDockerDriver } from '../../../sandbox/docker/dockerDriver.ts'
import { createImageBuilder } from '../../../sandbox/images/imageBuilder.ts'
import { createEgressGuard } from '../../../sandbox/network/egressGuard.ts'
import type { LaunchSpec, SandboxDriver, SandboxHandle } from '../../../sandbox/sandboxDriver.ts'
import { openNamedPipes } from '../../../sandbox/stdio/namedPipes.ts'
import { startProgram } from '../../fixtures/servers/startProgram.ts'
import { missing } from '../../provision/requirements.ts'

const programs = join(import.meta.dirname, '../../fixtures/programs')

/** Where a channel can be opened from any process: what one daemon leaves to the next. */
export type ChannelAddress =
  | { readonly kind: 'pipes'; readonly directory: string }
  | {
      readonly kind: 'docker'
      readonly home: string
      readonly daemonId: string
      readonly stdio: 'auto' | 'attach'
      readonly handle: SandboxHandle
    }

/** A program on the other end of a data plane. */
export interface StdioSubject extends AsyncDisposable {
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

/** Every data plane that there is. */
export const stdioPlanes: readonly StdioPlane[] = [
  { name: 'named pipes, bare child', unavailable: null, keepsOutput: true, open: async () => createBareRig() },
  { name: 'named pipes, container', unavailable: noDocker, keepsOutput: true, open: () => createDockerRig('auto') },
  { name: 'engine attach, container', unavailable: noDocker, keepsOutput: false, open: () => createDockerRig('attach') },
]

export async function openChannel(address: ChannelAddress): Promise<Duplex> {
  if (address.kind === 'pipes') return openNamedPipes(address.directory)
  return createDriver(address).stdio(address.handle)
}

function createBareRig(): StdioRig {
  return {
    async start(behaviour) {
      const program = await startProgram([process.execPath, join(programs, 'stdioProgram.mjs'), behaviour])
      return {
        address: { kind: 'pipes', directory: program.directory },
        open: program.open,
        [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
      }
    },
    async [Symbol.asyncDispose]() {},
  }
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

function createDriver({ home: root, daemonId, stdio }: { home: string; daemonId: string; stdio: 'auto' | 'attach' }): SandboxDriver {
  const home = locateHome({ PKGD_HOME: root })
  return createDockerDriver({
    home,
    daemonId,
    trees: { locate: () => programs },
    images: createImageBuilder({ directory: home.images, log: silent }),
    imageReferences: {},
    egress: createEgressGuard({ daemonId, pool: '10.213.0.0/16', allowPrivate: [], resolvers: [], log: silent }),
    log: silent,
    clock: systemClock,
    stdio,
  })
}

/** A driver of its own in a home of its own; disposing removes its containers. */
export async function createDockerRig(stdio: 'auto' | 'attach'): Promise<StdioRig> {
  const root = await mkdtemp(join(tmpdir(), 'pkgd-stdio-'))
  const daemonId = randomBytes(4).toString('hex')
  const driver = createDriver({ home: root, daemonId, stdio })
  const cleanups = createCleanups()
  cleanups.add(() => rm(root, { recursive: true }))
  cleanups.add(async () => driver[Symbol.asyncDispose]())
  const context = { signal: new AbortController().signal, progress() {} }
  const image = await driver.prepareImage({ runtime: 'node' }, context)

  return {
    async start(behaviour) {
      const spec: LaunchSpec = {
        identity: { daemon: daemonId, packageId: `stdio-${behaviour}`, version: '1.0.0', spec: 'contract' },
        image,
        tree: 'programs',
        command: ['node', '/app/stdioProgram.mjs', behaviour],
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
        address: { kind: 'docker', home: root, daemonId, stdio, handle },
        open: () => driver.stdio(handle),
        [Symbol.asyncDispose]: destroy,
      }
    },
    [Symbol.asyncDispose]: cleanups.run,
  }
}
