import semver from 'semver'
import { PkgdError } from '../../daemon/core/errors.ts'

/** Somebody's range for an id. */
export interface Want {
  /** Who, as `id@version`. */
  readonly by: string
  readonly id: string
  readonly range: string
  /** Whether it is an installed package that is no part of the plan. */
  readonly installed: boolean
}

/** How many versions a message lists. */
const mostListed = 10

function listVersions(versions: readonly string[]): string {
  const newest = versions.toSorted((a, b) => semver.compareBuild(b, a))
  const more = newest.length > mostListed ? ` and ${newest.length - mostListed} older` : ''
  return `${newest.slice(0, mostListed).join(', ')}${more}`
}

/** DEPENDENCY_UNSOLVABLE: who wants what, and which versions there are. */
export function unsolvableError(id: string, wants: readonly Want[], versions: readonly string[]): PkgdError {
  const who = wants.map((want) => `${want.by}${want.installed ? ' (installed)' : ''} wants ${want.range}`)
  const issues = wants.map((want) => ({
    pointer: `/dependencies/extensions/${id}`,
    message: `${want.by}${want.installed ? ' (installed)' : ''} wants ${id}@${want.range}`,
    rule: 'semver-range',
  }))
  if (versions.length === 0) {
    return new PkgdError('DEPENDENCY_UNSOLVABLE', `No configured registry has ${id}: ${who.join('; ')}`, {
      hint: `install ${id} from its folder or archive first, or add its registry to "registries" in pkgd.yaml`,
      issues,
    })
  }
  const standing = wants.find((want) => want.installed)
  return new PkgdError(
    'DEPENDENCY_UNSOLVABLE',
    `No version of ${id} satisfies everyone who needs it: ${who.join('; ')}; there are ${listVersions(versions)}`,
    {
      hint: standing ? `upgrade or uninstall ${standing.id} first` : hintFor(id, wants),
      issues,
    },
  )
}

function hintFor(id: string, wants: readonly Want[]): string {
  const names = [...new Set(wants.map((want) => want.id))]
  if (names.length > 1) return `install versions of ${names.join(' and ')} that agree on ${id}`
  return `add a registry that has ${id} in that range, or change the range in ${names[0] ?? 'its dependent'}`
}

/** DEPENDENCY_CYCLE, with the whole way round. */
export const cycleError = (path: readonly string[]): PkgdError =>
  new PkgdError('DEPENDENCY_CYCLE', `Packages need each other in a circle: ${path.join(' -> ')}`, {
    hint: `remove one of these from "dependencies.extensions": ${path.slice(1).join(', ')}`,
  })
