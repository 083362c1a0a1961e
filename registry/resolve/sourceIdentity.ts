import { isAbsolute, relative } from 'node:path'
import { assertNever } from '../../daemon/core/errors.ts'
import type { RegistrySource } from './registrySource.ts'
import type { Resolution } from './resolution.ts'

interface Origin {
  readonly resolution: Resolution
  /** The package's own, as its manifest says. */
  readonly version: string
}

/**
 * Who stands behind a package, whatever its version: two versions of one package have the same, two packages that only share an id do not. npm and PyPI: the name and the
 * server that its files come from; git: the repository; https, archives and folders: the place, without the version where it is part of it. All that lies in one registry's
 * folder is that registry's.
 */
export function toSourceIdentity({ resolution, version }: Origin, registries: readonly RegistrySource[]): string {
  switch (resolution.kind) {
    case 'folder':
    case 'archive': {
      const { path } = resolution
      const registry = registries.find((one) => one.kind === 'folder' && isWithin(path, one.path))
      if (registry?.kind === 'folder') return `registry ${registry.path}`
      return resolution.kind === 'folder' ? `folder ${path}` : `archive ${withoutVersion(path, version)}`
    }
    case 'npm':
      return `npm ${resolution.name} from ${new URL(resolution.tarball).host}`
    case 'pypi':
      return `pypi ${resolution.name.toLowerCase().replace(/[-_.]+/g, '-')} from ${new URL(resolution.url).host}`
    case 'git':
      return `git ${resolution.url.replace(/\/+$/, '').replace(/\.git$/, '')}`
    case 'https': {
      const { origin, pathname, search } = new URL(resolution.url)
      return `https ${origin}${withoutVersion(pathname + search, version)}`
    }
    default:
      return assertNever(resolution)
  }
}

/** The version wherever it stands alone: `/v1.0.0/weather-1.0.0.tgz` is `/v*\/weather-*.tgz`, and `11.0.0` is not `1*`. */
function withoutVersion(place: string, version: string): string {
  const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return place.replace(new RegExp(`(?<![\\d.])(?:${escaped(version)}|${escaped(encodeURIComponent(version))})(?![\\d]|\\.\\d)`, 'g'), '*')
}

const isWithin = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}
