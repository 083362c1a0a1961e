import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import { checkMountTarget } from '../../../registry/manifest/mountTarget.ts'
import { hasCode, PkgdError } from '../../core/errors.ts'
import type { MountGrant } from '../../core/types.ts'

/** The kernel's and the running system's own: sockets that give the machine away (an engine's among them) are below /run. */
const dangerous = ['/proc', '/sys', '/dev', '/run', '/boot', '/var/run']

/**
 * Mounts whose sources were found and allowed, as real paths: a link that changes later changes nothing. `kept` are paths that are pkgd's own. `remembered` is the package that got
 * them at an earlier install, null where they are given now: nobody typed them this time, so that a refusal says how to be rid of them.
 */
export async function checkMountSources(
  mounts: readonly MountGrant[],
  kept: readonly string[],
  remembered: string | null = null,
): Promise<MountGrant[]> {
  const resolved: MountGrant[] = []
  for (const mount of mounts) resolved.push({ ...mount, source: await checkMount(mount, kept, remembered) })
  return resolved
}

async function checkMount(mount: MountGrant, kept: readonly string[], remembered: string | null): Promise<string> {
  const refuse = (why: string, hint: string): never => {
    const { source, target } = mount
    if (remembered === null) throw new PkgdError('MOUNT_REFUSED', `${source} cannot be mounted at ${target}: ${why}`, { hint })
    const message = `${source}, which an earlier install gave ${remembered} at ${target}, cannot be mounted any more: ${why}`
    throw new PkgdError('MOUNT_REFUSED', message, {
      hint: `${hint}; or install ${remembered} with --mount <path>:${target} for another, with --mount none for no mount at all`,
    })
  }
  const wrongTarget = checkMountTarget(mount.target)
  if (wrongTarget) refuse(`the target ${wrongTarget}`, 'choose a target such as /docs')
  if (!isAbsolute(mount.source)) refuse('the source is not an absolute path', 'give the whole path')
  const source = await realpath(mount.source).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return refuse('it does not exist', 'create it first, or check the path')
    if (hasCode(error, 'EACCES')) return refuse('the daemon may not read it', 'check its permissions')
    throw error
  })
  const info = await stat(source)
  if (!info.isDirectory() && !info.isFile()) refuse('it is neither a folder nor a file', 'sockets and devices are never given to a package')
  if (source === '/') refuse('it is the whole machine', 'mount the folder that the package needs')
  const forbidden = dangerous.find((path) => isWithin(source, path))
  if (forbidden) refuse(`${forbidden} belongs to the running system`, 'copy what the package needs into a folder of its own')
  for (const own of await Promise.all(kept.map(realOrSame))) {
    if (isWithin(source, own)) refuse(`it is pkgd's own (${own})`, 'mount a folder outside of it')
    if (isWithin(own, source)) refuse(`pkgd's own ${own} is in it`, 'mount a folder beside it')
  }
  return source
}

const isWithin = (path: string, ancestor: string): boolean => {
  const way = relative(ancestor, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}

const realOrSame = (path: string): Promise<string> =>
  realpath(path).catch((error: unknown) => {
    // What does not exist yet cannot be a link.
    if (hasCode(error, 'ENOENT')) return path
    throw error
  })
