import { randomBytes } from 'node:crypto'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { Home } from '../../daemon/core/home.ts'
import type { Clock, Logger } from '../../daemon/core/ports.ts'
import { readIfThere } from '../confinement/cgroups.ts'
import { hasSwap, type KernelReading, readKernel, unreadKernel } from '../confinement/kernelReading.ts'
import type { ImageBuilder } from '../images/imageBuilder.ts'
import type { Runtime } from '../images/imageSources.ts'
import type { EgressGuard } from '../network/egressGuard.ts'
import type { SandboxHandle, SandboxReport, TreeSource } from '../sandboxDriver.ts'
import { daemonLabel } from './containerLabels.ts'
import { checkOurs } from './containerStatus.ts'
import { createEngineApi } from './createEngineApi.ts'
import { createDockerNetworks, type DockerNetworks } from './dockerNetworks.ts'
import type { ContainerDetails, EngineApi } from './engineApi.ts'
import { pickEngineEndpoint } from './engineEndpoint.ts'
import { type EngineTraits, probeEngine } from './engineTraits.ts'
import type { ContainerDeps } from './launchContainer.ts'
import { toSandboxReport } from './sandboxReport.ts'
import { createVolumeDelivery, type VolumeDelivery } from './volumeDelivery.ts'

export interface DockerDriverDeps {
  readonly home: Home
  /** 8 lowercase hex: whose containers are ours. */
  readonly daemonId: string
  readonly trees: TreeSource
  readonly images: ImageBuilder
  /** Images to pull for the runtimes instead of building them, by digest where the operator wants them fixed. */
  readonly imageReferences: Readonly<Partial<Record<Runtime, string>>>
  readonly egress: EgressGuard
  readonly log: Logger
  readonly clock: Clock
  /** Where DOCKER_HOST is looked up; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** `auto` (the default) is pipes where the engine shares this kernel and disk. */
  readonly stdio?: 'auto' | 'attach'
  /** `apart`: as with an engine on another machine, whatever the probe would find. */
  readonly disk?: 'auto' | 'apart'
}

/** What the parts of the driver share: the engine, what is known of it, and what this driver is doing with it. */
export interface DockerContext {
  readonly deps: DockerDriverDeps
  readonly api: EngineApi
  readonly networks: DockerNetworks
  readonly delivery: VolumeDelivery
  /** What a container is started with. */
  toContainerDeps(): Promise<ContainerDeps>
  /** The filter that finds everything of this daemon's. */
  readonly label: string
  /** Names of what is being started or built: not yet, or never, anybody's to adopt. */
  readonly busy: Set<string>
  /** Ids that this driver sent SIGKILL. */
  readonly killed: Set<string>
  /** Asked of the engine once, until `forgetTraits`. */
  traits(): Promise<EngineTraits>
  forgetTraits(): void
  /** Why no network policy can be enforced here, or null. */
  networkRefused(): Promise<string | null>
  toName(packageId: string): string
  isOurName(name: string): boolean
  /** Errors: SANDBOX_NOT_FOUND, also for a container that is not this daemon's. */
  inspectOurs(handle: SandboxHandle): Promise<ContainerDetails>
  /** The same for one that has ended. */
  inspectRunning(handle: SandboxHandle): Promise<ContainerDetails>
  readReport(details: ContainerDetails): Promise<SandboxReport>
  /** The container's init as this host's own process table has it; null where it is out of sight (another machine, another pid namespace) or has ended. */
  findProcess(details: ContainerDetails): Promise<number | null>
}

export function createDockerContext(deps: DockerDriverDeps): DockerContext {
  const { home, daemonId, egress } = deps
  const endpoint = pickEngineEndpoint(deps.env ?? process.env)
  const api = createEngineApi(endpoint)
  const networks = createDockerNetworks({ api, egress, daemonId })
  const delivery = createVolumeDelivery(api, daemonId)
  let known: Promise<EngineTraits> | undefined

  const traits = async (): Promise<EngineTraits> => {
    known ??= probeEngine({ api, endpoint, daemonId, cache: home.cache, scratch: home.tmp }).then((found) =>
      deps.disk === 'apart' ? { ...found, sharesDisk: false, sameKernel: false } : found,
    )
    try {
      return await known
    } catch (error) {
      known = undefined
      throw error
    }
  }
  const inspectOurs = async ({ id }: SandboxHandle): Promise<ContainerDetails> => {
    const details = await api.inspectContainer(id)
    checkOurs(details, daemonId)
    return details
  }
  const findProcess = async ({ Id: id, State: { Pid: pid } }: ContainerDetails): Promise<number | null> => {
    if (pid === 0 || !(await traits()).sameKernel) return null
    // The number is of the engine's process table: it is the same process here only if its cgroup is the container's.
    const cgroups = await readIfThere(`/proc/${pid}/cgroup`)
    return cgroups?.includes(id) ? pid : null
  }

  /** The engine's own measurements say which limits its kernel has, as far as they go. */
  const readFromAfar = async ({ Id: id, State: state }: ContainerDetails): Promise<KernelReading> => {
    if (!state.Running || (await traits()).sameKernel) return unreadKernel
    const { memory_stats: memory, pids_stats: pids } = await api.statContainer(id)
    // Figures of one that ended meanwhile are those of nobody.
    if (!(await api.inspectContainer(id)).State.Running) return unreadKernel
    return { ...unreadKernel, memoryBytes: memory.limit ?? null, pids: (pids as { limit?: number } | undefined)?.limit ?? null }
  }

  return {
    deps,
    api,
    networks,
    delivery,
    async toContainerDeps() {
      const { sharesDisk, ownPlaces } = await traits()
      const kept = { pkgd: [home.root], engine: sharesDisk ? ownPlaces : [] }
      return { api, networks, run: home.run, log: deps.log, kept, delivery: sharesDisk ? null : delivery }
    },
    label: daemonLabel(daemonId),
    busy: new Set(),
    killed: new Set(),
    traits,
    forgetTraits() {
      known = undefined
    },
    toName: (packageId) => `pkgd-${daemonId}-${packageId}-${randomBytes(3).toString('hex')}`,
    async networkRefused() {
      const { sameKernel } = await traits()
      return sameKernel ? egress.unavailable() : "the container engine's network is not on this host"
    },
    isOurName: (name) => name.startsWith(`pkgd-${daemonId}-`) && !name.includes('/'),
    inspectOurs,
    async inspectRunning(handle) {
      const details = await inspectOurs(handle)
      if (!details.State.Running) throw new PkgdError('SANDBOX_NOT_FOUND', `The sandbox ${handle.name} has ended`)
      return details
    },
    async readReport(details) {
      const pid = await findProcess(details)
      const [kernel, swap] = pid === null ? [await readFromAfar(details), false] : await Promise.all([readKernel(pid), hasSwap()])
      return toSandboxReport({ details, kernel, swap })
    },
    findProcess,
  }
}
