import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createCleanups } from '../../daemon/core/disposables.ts'
import type { KeptPlaces } from '../../daemon/core/mountSource.ts'
import type { Logger, OperationContext } from '../../daemon/core/ports.ts'
import type { MountGrant } from '../../daemon/core/types.ts'
import { writeAccountFiles } from '../confinement/accountFiles.ts'
import { checkSources } from '../confinement/mountSources.ts'
import type { EgressPolicy } from '../network/egressGuard.ts'
import type { SandboxHandle } from '../sandboxDriver.ts'
import { createBoxDirectory } from '../starter/boxDirectory.ts'
import { type BoxSpec, boxMount, toContainerSpec } from './containerSpec.ts'
import type { DockerNetworks } from './dockerNetworks.ts'
import type { EngineApi } from './engineApi.ts'
import { writeHostsFile } from './hostsFile.ts'
import { toBindMount } from './sandboxMounts.ts'
import { toStartError } from './starterWatch.ts'
import type { VolumeDelivery } from './volumeDelivery.ts'

export interface LaunchRequest {
  /** Everything but what is made on the way: the box directory's mount and the network. */
  readonly box: Omit<BoxSpec, 'network'>
  readonly env: Readonly<Record<string, string>>
  readonly egress: EgressPolicy
  /** Those of the box's mounts that the user chose. */
  readonly granted: readonly MountGrant[]
}

export interface StartedContainer {
  readonly handle: SandboxHandle
  /** With `attach`: connected before the start, so that nothing the package says is missed. */
  readonly attached: Duplex | null
  /** Undoes all of it; what could not be is logged. */
  undo(): Promise<void>
}

export interface ContainerDeps {
  readonly api: EngineApi
  readonly networks: DockerNetworks
  /** `$PKGD_HOME/run`. */
  readonly run: string
  readonly log: Logger
  readonly kept: KeptPlaces
  /** Null where the engine mounts this host's directories. */
  readonly delivery: VolumeDelivery | null
}

export const boxDirectoryOf = (run: string, name: string): string => join(run, name, 'box')

/** Makes and starts a container: box directory and network at the same time, then create, then start. A failure leaves nothing behind. */
export async function startContainer(
  { box, env, egress, granted }: LaunchRequest,
  { signal, progress }: OperationContext,
  { api, networks, run, log, delivery, kept }: ContainerDeps,
): Promise<StartedContainer> {
  const cleanups = createCleanups()
  const directory = boxDirectoryOf(run, box.name)
  const { uid, labels } = box
  const undo = async () => {
    try {
      await cleanups.run()
    } catch (error) {
      // Why the launch failed is what its caller must hear. The rest has the daemon's label and falls to the next sweep.
      log.warn('What is left of a sandbox could not be removed', { sandbox: box.name, error: String(error) })
    }
  }
  const makeFiles = async () => {
    await createBoxDirectory({ directory, uid, env: { HOME: '/tmp', ...env }, stdio: labels.stdio })
    if (delivery !== null) {
      cleanups.add(() => delivery.remove(box.name))
      return delivery.deliver(box, directory)
    }
    const accounts = await writeAccountFiles(dirname(directory), uid)
    const hosts = egress.mode === 'none' ? [await writeHostsFile(dirname(directory))] : []
    return [boxMount(directory), ...accounts.map(toBindMount), ...hosts, ...box.mounts]
  }
  const makeNetwork = async () => {
    if (egress.mode === 'none') return null
    const network = await networks.create(box.name, labels.identity.packageId, egress)
    cleanups.add(() => networks.remove(box.name))
    return network
  }
  try {
    progress({ stage: 'create' })
    cleanups.add(() => rm(join(run, box.name), { recursive: true, force: true }))
    // Both must have settled before anything is undone.
    const [files, network] = await Promise.allSettled([makeFiles(), makeNetwork()])
    if (files.status === 'rejected') throw files.reason
    if (network.status === 'rejected') throw network.reason
    signal.throwIfAborted()
    // As late as can be: the engine takes a path, no open file, and looks it up by itself. `confirmMounts` sees what came of it.
    await checkSources(granted, kept)
    const id = await api.createContainer(toContainerSpec({ ...box, mounts: files.value, network: network.value }))
    cleanups.add(() => api.removeContainer(id))
    signal.throwIfAborted()
    const attached = labels.stdio === 'attach' && labels.purpose === 'package' ? await api.attachContainer(id) : null
    cleanups.add(() => {
      attached?.destroy()
    })
    progress({ stage: 'start' })
    await api.startContainer(id)
    signal.throwIfAborted()
    return { handle: { driver: 'docker', id, name: box.name }, attached, undo }
  } catch (error) {
    await undo()
    signal.throwIfAborted()
    throw toStartError(error, labels.identity.packageId)
  }
}
