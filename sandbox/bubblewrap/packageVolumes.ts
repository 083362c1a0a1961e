import { chown, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'
import type { SandboxDriver } from '../sandboxDriver.ts'

/** A package's /data: a directory of the home, its user's own. */
export function createPackageVolumes(daemonId: string, directory: string): SandboxDriver['volumes'] {
  const nameOf = (packageId: string) => `pkgd-${daemonId}-${packageId}-data`
  return {
    async ensure(packageId, uid) {
      const path = join(directory, packageId)
      await mkdir(path, { recursive: true, mode: 0o700 })
      if (process.getuid?.() === 0) await chown(path, uid, uid)
      return { name: nameOf(packageId), path }
    },
    async remove(packageId) {
      await rm(join(directory, packageId), { recursive: true, force: true })
    },
    async list() {
      try {
        return (await readdir(directory)).map((packageId) => ({ packageId, name: nameOf(packageId) }))
      } catch (error) {
        // No package has asked for one yet.
        if (hasCode(error, 'ENOENT')) return []
        throw error
      }
    },
  }
}
