import { chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'
import type { SandboxDriver } from '../sandboxDriver.ts'
import { daemonLabel, packageOf, toObjectLabels } from './containerLabels.ts'
import { withEmptyImage } from './emptyImage.ts'
import type { EngineApi } from './engineApi.ts'
import { putInVolume } from './volumeDelivery.ts'

export interface VolumesDeps {
  readonly daemonId: string
  /** `$PKGD_HOME/data`. */
  readonly directory: string
  readonly api: EngineApi
  /** Whether the engine mounts this host's directories. */
  readonly sharesDisk: () => Promise<boolean>
}

/** A package's /data: a directory of the home where the engine shares this disk, else a volume of the engine's. */
export function createVolumes({ daemonId, directory, api, sharesDisk }: VolumesDeps): SandboxDriver['volumes'] {
  const nameOf = (packageId: string) => `pkgd-${daemonId}-${packageId}-data`
  /** An empty volume is root's; a directory that travels into it gives it its owner. */
  async function createOwned(name: string, packageId: string, uid: number): Promise<void> {
    await api.createVolume(name, toObjectLabels({ daemon: daemonId, packageId }))
    const empty = await mkdtemp(join(tmpdir(), 'pkgd-volume-'))
    try {
      await withEmptyImage(api, daemonLabel(daemonId), (image) =>
        putInVolume(api, { volume: name, image, daemonId, packageId, directory: empty, uid }),
      )
    } catch (error) {
      await api.removeVolume(name)
      throw error
    } finally {
      await rm(empty, { recursive: true, force: true })
    }
  }

  return {
    async ensure(packageId, uid) {
      const name = nameOf(packageId)
      if (!(await sharesDisk())) {
        const there = (await api.listVolumes([daemonLabel(daemonId)])).some((volume) => volume.name === name)
        if (!there) await createOwned(name, packageId, uid)
        return { name, path: null }
      }
      const path = join(directory, packageId)
      await mkdir(path, { recursive: true, mode: 0o700 })
      if (process.getuid?.() === 0) await chown(path, uid, uid)
      return { name, path }
    },
    async remove(packageId) {
      if (await sharesDisk()) await rm(join(directory, packageId), { recursive: true, force: true })
      else await api.removeVolume(nameOf(packageId))
    },
    async list() {
      if (!(await sharesDisk())) {
        const volumes = await api.listVolumes([daemonLabel(daemonId)])
        const found = volumes.map(({ name, labels }) => ({ packageId: packageOf(labels), name }))
        // A sandbox's own volumes have the same labels.
        return found.filter(({ packageId, name }) => name === nameOf(packageId))
      }
      const names = await readdir(directory).catch((error: unknown) => {
        // No package has asked for one yet.
        if (hasCode(error, 'ENOENT')) return []
        throw error
      })
      return names.map((packageId) => ({ packageId, name: nameOf(packageId) }))
    },
  }
}
