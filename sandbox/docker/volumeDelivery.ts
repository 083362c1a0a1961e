import { Readable } from 'node:stream'
import { create } from 'tar'
import { PkgdError } from '../../daemon/core/errors.ts'
import { boxMountPoint } from '../starter/starterCommand.ts'
import { daemonLabel, packageOf, passingLabel, toObjectLabels } from './containerLabels.ts'
import type { BoxSpec, ContainerMount } from './containerSpec.ts'
import type { EngineApi } from './engineApi.ts'

const suffixes = ['-box', '-app'] as const

/**
 * For an engine that does not see this host's disk: directories travel through its archive API into volumes of the sandbox's own, which it mounts
 * read-only. The files keep their owners and modes.
 */
export interface VolumeDelivery {
  /** The mounts of a box whose directory is `directory`, with volumes in place of host paths. Errors: MOUNT_REFUSED for what can only be mounted. */
  deliver(box: Pick<BoxSpec, 'name' | 'image' | 'labels' | 'mounts'>, directory: string): Promise<ContainerMount[]>
  /** Removes the volumes of a sandbox; none is fine. */
  remove(name: string): Promise<void>
  /** Removes those whose sandbox is gone. */
  sweep(live: ReadonlySet<string>): Promise<void>
}

export function createVolumeDelivery(api: EngineApi, daemonId: string): VolumeDelivery {
  const label = daemonLabel(daemonId)

  async function fill(volume: string, directory: string, image: string, packageId: string): Promise<void> {
    await api.createVolume(volume, toObjectLabels({ daemon: daemonId, packageId }))
    await putInVolume(api, { volume, image, daemonId, packageId, directory })
  }

  async function remove(name: string): Promise<void> {
    for (const suffix of suffixes) await api.removeVolume(`${name}${suffix}`)
  }

  return {
    async deliver({ name, image, labels, mounts }, directory) {
      const delivered: ContainerMount[] = []
      const { packageId } = labels.identity
      const put = async (suffix: (typeof suffixes)[number], source: string, target: string) => {
        await fill(`${name}${suffix}`, source, image, packageId)
        delivered.push({ kind: 'volume', source: `${name}${suffix}`, target, readOnly: true })
      }
      const foreign = mounts.find(({ kind, target }) => kind === 'bind' && target !== '/app')
      if (foreign) {
        throw new PkgdError('MOUNT_REFUSED', `${foreign.source} cannot be mounted: the container engine does not share this host's disk`, {
          hint: 'use an engine on this host, or start the package without the mount',
        })
      }
      await put('-box', directory, boxMountPoint)
      for (const mount of mounts) {
        if (mount.kind === 'volume') delivered.push(mount)
        else await put('-app', mount.source, mount.target)
      }
      return delivered
    },
    remove,
    async sweep(live) {
      const volumes = await api.listVolumes([label])
      const names = volumes.filter(({ labels }) => packageOf(labels) !== '').map(({ name }) => name)
      for (const name of names) {
        const suffix = suffixes.find((each) => name.endsWith(each))
        if (suffix !== undefined && !live.has(name.slice(0, -suffix.length))) await api.removeVolume(name)
      }
    },
  }
}

export interface VolumeContent {
  readonly volume: string
  /** Any image: nothing of it runs. */
  readonly image: string
  readonly daemonId: string
  readonly packageId: string
  readonly directory: string
  /** Who owns it in the volume, where that is not who owns it here. */
  readonly uid?: number
}

/** Writes a directory's content into a volume, which the engine mounts for a container that is made and never started. */
export async function putInVolume(api: EngineApi, { volume, image, daemonId, packageId, directory, uid }: VolumeContent): Promise<void> {
  const owned = (_path: string, entry: object): boolean => {
    if (uid !== undefined) Object.assign(entry, { uid, gid: uid })
    return true
  }
  const filler = await api.createContainer({
    name: `${volume}-filler`,
    Image: image,
    Cmd: ['/fill'],
    Labels: { ...toObjectLabels({ daemon: daemonId, packageId }), ...passingLabel },
    HostConfig: { NetworkMode: 'none', Mounts: [{ Type: 'volume', Source: volume, Target: '/fill' }] },
  })
  try {
    // From above, so that the volume's own directory gets the owner and mode of the one that travels.
    await api.putArchive(
      filler,
      '/',
      Readable.from(create({ cwd: directory, prefix: 'fill', filter: owned }, ['.']), { objectMode: false }),
    )
  } finally {
    await api.removeContainer(filler)
  }
}
