import { chmod, mkdir } from 'node:fs/promises'
import { hasCode, PkgdError } from '../core/errors.ts'
import type { Home } from '../core/home.ts'

/** Paths of sockets fit into 108 bytes (unix(7)). */
const longestSocket = 107

/** Makes the home and its folders, for its owner alone. Errors: CONFIG_INVALID for a place where no home can be. */
export async function prepareHome(home: Home): Promise<void> {
  if (Buffer.byteLength(home.socket) > longestSocket) {
    throw new PkgdError(
      'CONFIG_INVALID',
      `PKGD_HOME is too long: ${home.socket} has more than ${longestSocket} bytes, which no socket may have`,
      {
        hint: 'set PKGD_HOME to a shorter path',
      },
    )
  }
  try {
    await mkdir(home.root, { recursive: true, mode: 0o700 })
    await chmod(home.root, 0o700)
    // Folders that packages' users must pass through on their way to what is theirs are made by those who own them.
    for (const path of [home.store, home.cache, home.images, home.run, home.data, home.tmp])
      await mkdir(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (!['EEXIST', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS'].some((code) => hasCode(error, code))) throw error
    throw new PkgdError('CONFIG_INVALID', `PKGD_HOME ${home.root} cannot be used: ${error instanceof Error ? error.message : error}`, {
      hint: 'set PKGD_HOME to a folder that you may write to',
      cause: error,
    })
  }
}
