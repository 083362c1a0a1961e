import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { arch } from 'node:os'
import { join } from 'node:path'
import { createCleanups } from '../../daemon/core/disposables.ts'
import type { Limits, MountGrant } from '../../daemon/core/types.ts'
import { writeAccountFiles } from '../confinement/accountFiles.ts'
import { imageEnv } from '../images/imageEnv.ts'
import type { EgressPolicy } from '../network/egressGuard.ts'
import type { PreparedImage, SandboxIdentity } from '../sandboxDriver.ts'
import { createBoxDirectory } from '../starter/boxDirectory.ts'
import { toStarterCommand } from '../starter/starterCommand.ts'
import type { BoxOrders, MountPin } from './boxProcess.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { toBwrapOptions, toInnerCommand } from './bwrapArguments.ts'
import type { Cgroup } from './cgroup.ts'
import { findHiddenPlaces } from './hiddenPlaces.ts'
import { checkMountPoints } from './mountPoints.ts'
import { createPackageNetwork, removePackageNetwork, toLinkName, toNamespacePath } from './packageNetwork.ts'
import type { ProcessIdentity } from './processIdentity.ts'
import { readRootLayout } from './rootLayout.ts'
import { runFile, type SandboxRecord, writeRecord } from './sandboxRecord.ts'
import { encodeFilter, pickFilterArchitecture, toSeccompFilter } from './seccompFilter.ts'

export interface BoxRequest {
  readonly name: string
  readonly identity: SandboxIdentity
  readonly image: PreparedImage
  readonly root: string
  readonly tree: string | null
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly uid: number
  readonly limits: Limits
  /** Of pkgd's own choice. */
  readonly mounts: readonly MountGrant[]
  /** The user's. */
  readonly granted: readonly MountGrant[]
  readonly policy: EgressPolicy
  readonly network: SandboxRecord['network']
  readonly stdio: 'pipes' | 'attach'
  readonly logBytes: number
  readonly builder: ProcessIdentity | null
}

export interface PreparedBox {
  readonly orders: BoxOrders
  readonly cgroup: Cgroup
  /** Undoes all of it, in reverse. Nothing may run in it any more. */
  undo(): Promise<void>
}

/**
 * Everything that bwrap is started with: the run directory with its record first, so that whatever dies in between is found by it, then the network and the
 * cgroups. A failure leaves nothing behind.
 */
export async function prepareBox(request: BoxRequest, { deps, cgroups, asRoot, directoryOf }: BubblewrapContext): Promise<PreparedBox> {
  const { name, uid, limits, policy } = request
  const directory = directoryOf(name)
  const cleanups = createCleanups()
  try {
    const layout = await readRootLayout(request.root)
    await checkMountPoints([...request.mounts, ...request.granted], request.root, layout)
    await mkdir(deps.home.run, { recursive: true, mode: 0o700 })
    await mkdir(directory, { mode: 0o700 })
    cleanups.add(() => rm(directory, { recursive: true, force: true }))
    await writeRecord(directory, runFile.record, toRecord(request, deps.clock.now()))
    const box = join(directory, runFile.box)
    await createBoxDirectory({ directory: box, uid, env: { HOME: '/tmp', ...request.env }, stdio: request.stdio })

    const networked = policy.mode !== 'none'
    const files = await writeAccountFiles(directory, uid)
    if (networked) {
      cleanups.add(() => removePackageNetwork(toLinkName(name), deps.egress))
      const { subnet } = await createPackageNetwork(name, policy, deps.egress)
      const resolver = { source: join(directory, runFile.resolvConf), target: '/etc/resolv.conf', readOnly: true }
      await writeFile(resolver.source, `nameserver ${subnet.gateway}\n`, { mode: 0o644 })
      files.push(resolver)
      await writeRecord(directory, runFile.record, {
        ...toRecord(request, deps.clock.now()),
        link: { interface: toLinkName(name), subnet },
      })
    }
    const cgroup = await cgroups.create(name, limits)
    cleanups.add(() => cgroup.remove())

    const { root, tree } = request
    const { tmpBytes } = limits
    // Without root nothing can be bound beforehand; there a package is the daemon's own user, and can do no more than that user.
    const pins = asRoot ? await makePins(request.granted, join(directory, runFile.mounts)) : []
    const bound = asRoot ? pins.map(({ at, target, readOnly }) => ({ source: at, target, readOnly })) : request.granted
    const mounts = [...request.mounts, ...bound]
    const hidden = await findHiddenPlaces()
    const plan = { root, layout, tree, box, mounts, hidden, tmpBytes, files, isolateNetwork: !networked, asRoot, uid, env: imageEnv }
    await writeFile(join(directory, runFile.arguments), toBwrapOptions(plan).join('\0'), { mode: 0o600 })
    const architecture = pickFilterArchitecture(arch())
    if (architecture) await writeFile(join(directory, runFile.filter), encodeFilter(toSeccompFilter(architecture)), { mode: 0o600 })
    const orders: BoxOrders = {
      directory,
      command: toInnerCommand(toStarterCommand(request.command), uid, asRoot),
      entrances: cgroup.entrances,
      pins,
      networkNamespace: networked ? toNamespacePath(toLinkName(name)) : null,
      filtered: architecture !== undefined,
    }
    return { orders, cgroup, undo: () => cleanups.run() }
  } catch (error) {
    await cleanups.run()
    throw error
  }
}

/** A place for each of the user's mounts to be bound to: a folder for a folder, a file for a file. */
async function makePins(granted: readonly MountGrant[], directory: string): Promise<MountPin[]> {
  if (granted.length > 0) await mkdir(directory, { mode: 0o700 })
  return Promise.all(
    granted.map(async (grant, index) => {
      const at = join(directory, String(index))
      if ((await stat(grant.source)).isDirectory()) await mkdir(at)
      else await writeFile(at, '')
      return { ...grant, at }
    }),
  )
}

function toRecord({ name, identity, image, uid, limits, network, logBytes, builder }: BoxRequest, now: number): SandboxRecord {
  return { identity, name, image: image.id, uid, limits, network, link: null, logBytes, builder, createdAt: new Date(now).toISOString() }
}
