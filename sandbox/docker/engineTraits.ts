import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, release } from 'node:os'
import { basename, join } from 'node:path'
import { findCoded } from '../../daemon/core/errors.ts'
import type { LimitName } from '../sandboxDriver.ts'
import { daemonLabel, passingLabel, toObjectLabels } from './containerLabels.ts'
import { withEmptyImage } from './emptyImage.ts'
import type { EngineApi, EngineInfo } from './engineApi.ts'
import type { EngineEndpoint } from './engineEndpoint.ts'

/** What is true of an engine for as long as it runs. */
export interface EngineTraits {
  readonly version: string
  readonly operatingSystem: string
  readonly rootless: boolean
  /** Its own directories, as it has them. */
  readonly ownPlaces: readonly string[]
  /** Directories of this host can be mounted. */
  readonly sharesDisk: boolean
  /** It shares the disk and runs on this very kernel: named pipes in such directories join a process here with one in a container. */
  readonly sameKernel: boolean
  readonly unenforced: Readonly<Partial<Record<LimitName, string>>>
  readonly seccomp: boolean
}

export interface ProbeDeps {
  readonly api: EngineApi
  readonly endpoint: EngineEndpoint
  readonly daemonId: string
  /** Where the result is kept, and a folder for the probe. */
  readonly cache: string
  readonly scratch: string
}

/** Asks the engine what it is, and tries once, by a container that is made and never started, whether it sees this host's disk. */
export async function probeEngine({ api, endpoint, daemonId, cache, scratch }: ProbeDeps): Promise<EngineTraits> {
  const [version, info] = await Promise.all([api.version(), api.info()])
  const seen = JSON.stringify([endpoint, info.id, version.version, version.kernel, hostname(), scratch])
  const sharesDisk = await recallOr(cache, seen, () => tryBind(api, daemonId, scratch))
  const sameKernel = sharesDisk && version.kernel === release()
  return {
    version: version.version,
    operatingSystem: info.operatingSystem,
    rootless: info.rootless,
    ownPlaces: [info.rootDirectory, '/var/lib/containerd'].filter((place) => place !== ''),
    sameKernel,
    sharesDisk,
    unenforced: toUnenforced(info),
    seccomp: info.seccomp,
  }
}

/** The limits that the engine's kernel cannot hold, each with its reason. */
export function toUnenforced(
  info: Pick<EngineInfo, 'memoryLimit' | 'swapLimit' | 'cpuQuota' | 'pidsLimit'>,
): Partial<Record<LimitName, string>> {
  return {
    ...(!info.memoryLimit && { memory: "the engine's kernel has no memory controller for it" }),
    ...(!info.cpuQuota && { cpu: "the engine's kernel has no CPU quota for it" }),
    ...(!info.pidsLimit && { pids: "the engine's kernel has no pids controller for it" }),
  }
}

/** The answer kept from a former daemon, if it was about this very engine, else a new one that is kept. */
async function recallOr(cache: string, seen: string, ask: () => Promise<boolean>): Promise<boolean> {
  const file = join(cache, 'engine.json')
  const kept = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as { seen?: unknown; sharesDisk?: unknown },
    () => null,
  )
  if (kept?.seen === seen && typeof kept.sharesDisk === 'boolean') return kept.sharesDisk
  const sharesDisk = await ask()
  await mkdir(cache, { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify({ seen, sharesDisk }), { mode: 0o600 })
  return sharesDisk
}

async function tryBind(api: EngineApi, daemonId: string, scratch: string): Promise<boolean> {
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  const directory = await mkdtemp(join(scratch, 'probe-'))
  try {
    return await withEmptyImage(api, daemonLabel(daemonId), async (image) => {
      const container = await api.createContainer({
        name: `pkgd-${daemonId}-${basename(directory)}`,
        Image: image,
        Cmd: ['/probe'],
        Labels: { ...toObjectLabels({ daemon: daemonId, packageId: 'probe' }), ...passingLabel },
        HostConfig: { NetworkMode: 'none', Mounts: [{ Type: 'bind', Source: directory, Target: '/probe', ReadOnly: true }] },
      })
      await api.removeContainer(container)
      return true
    })
  } catch (error) {
    if (findCoded(error)?.code === 'MOUNT_REFUSED') return false
    throw error
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
