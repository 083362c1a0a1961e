import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import { hasCode } from './errors.ts'

/** Places that are somebody's own on this host, and never a package's. */
export interface KeptPlaces {
  readonly pkgd: readonly string[]
  /** The container engine's, where there is one on this host. */
  readonly engine: readonly string[]
}

/** `source` is the real path; `why` completes "it cannot be mounted: …", `hint` is the fix. */
export type MountSource = { readonly source: string } | { readonly why: string; readonly hint: string }

/** The kernel's and the running system's own: sockets that give the machine away (an engine's among them) are below /run. */
const dangerous = ['/proc', '/sys', '/dev', '/run', '/boot', '/var/run']

/**
 * Whether a path of this host's may be given to a package. What is true at install need not be at a start: a package that writes to a folder may put a link
 * where another mount's source is. So it is asked each time, and a source is kept as its real path.
 */
export async function judgeMountSource(path: string, kept: KeptPlaces): Promise<MountSource> {
  if (!isAbsolute(path)) return { why: 'the source is not an absolute path', hint: 'give the whole path' }
  const source = await realOr(path, null)
  if (source === null) return { why: 'it does not exist', hint: 'create it first, or check the path' }
  if (source === undefined) return { why: 'the daemon may not read it', hint: 'check its permissions' }
  const info = await stat(source)
  if (!info.isDirectory() && !info.isFile()) {
    return { why: 'it is neither a folder nor a file', hint: 'sockets and devices are never given to a package' }
  }
  if (source === '/') return { why: 'it is the whole machine', hint: 'mount the folder that the package needs' }
  const system = dangerous.find((place) => isWithin(source, place))
  if (system) return { why: `${system} belongs to the running system`, hint: 'copy what the package needs into a folder of its own' }
  for (const [owner, places] of [['pkgd', kept.pkgd] as const, ['the container engine', kept.engine] as const]) {
    for (const place of places) {
      const own = (await realOr(place, place)) ?? place
      if (isWithin(source, own)) return { why: `it is ${owner}'s own (${own})`, hint: 'mount a folder outside of it' }
      if (isWithin(own, source)) return { why: `${owner}'s own ${own} is in it`, hint: 'mount a folder beside it' }
    }
  }
  return { source }
}

/** Whether `path` is `ancestor` or below it; both absolute and real. */
export function isWithin(path: string, ancestor: string): boolean {
  const way = relative(ancestor, path)
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

/** The real path, `missing` for what is not there, undefined for what may not be read. */
async function realOr<T>(path: string, missing: T): Promise<string | T | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return missing
    if (hasCode(error, 'EACCES')) return undefined
    throw error
  }
}
