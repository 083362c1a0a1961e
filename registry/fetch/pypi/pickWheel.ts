import { PkgdError } from '../../../daemon/core/errors.ts'
import {
  comparePythonVersions,
  isPythonPrerelease,
  namesPrerelease,
  type PythonVersion,
  parsePythonVersion,
  parseSpecifiers,
  satisfiesSpecifiers,
} from '../../manifest/pep440.ts'
import type { IndexFile } from './indexFile.ts'
import { normalizeProjectName, type PythonTarget, parseWheelName, rankWheel } from './wheel.ts'

interface PickedWheel extends IndexFile {
  readonly version: string
  readonly integrity: string
}

export interface WheelChoice {
  readonly picked: PickedWheel | undefined
  /** Versions that exist, newest first, for messages. */
  readonly versions: readonly string[]
  /** Whether a version satisfies the range, but has no wheel that runs here. */
  readonly withoutWheel: string | undefined
}

/**
 * The wheel to take for a range: of the newest version that satisfies it, is not yanked (unless named exactly), fits the Python and is no pre-release
 * (unless the range names one, or there is nothing else); of its wheels the purest. Throws SPEC_INVALID.
 */
export function pickWheel(name: string, files: readonly IndexFile[], range: string, target: PythonTarget): WheelChoice {
  const clauses = parseSpecifiers(range)
  if (!clauses) {
    throw new PkgdError('SPEC_INVALID', `"${range}" is not a version range of Python packages`, { hint: 'write it as >=1.2 or ==1.2.3' })
  }
  const exact = clauses.some(({ operator, wildcard }) => operator === '===' || (operator === '==' && !wildcard))
  const wheels = files.flatMap((file) => toOffer(name, file, target))
  const known = uniqueVersions([...wheels.map(({ version }) => version), ...sourceVersions(name, files)])
  const satisfying = known.filter((version) => satisfiesSpecifiers(version, clauses))
  const living = (version: PythonVersion) =>
    wheels.filter(
      (offer) => comparePythonVersions(offer.version, version) === 0 && offer.rank !== undefined && (exact || !offer.file.yanked),
    )
  const usable = satisfying.filter((version) => living(version).length > 0)
  const finals = namesPrerelease(clauses) ? usable : usable.filter((version) => !isPythonPrerelease(version))
  const best = finals[0] ?? usable[0]
  const offers = best
    ? living(best).sort((left, right) => (left.rank ?? 0) - (right.rank ?? 0) || (left.file.filename < right.file.filename ? -1 : 1))
    : []
  const offer = offers[0]
  return {
    picked: offer && { ...offer.file, version: offer.version.text },
    versions: known.map((version) => version.text),
    withoutWheel: usable.length === 0 ? satisfying[0]?.text : undefined,
  }
}

interface Offer {
  readonly file: IndexFile & { readonly integrity: string }
  readonly version: PythonVersion
  /** Undefined when it does not run here. */
  readonly rank: number | undefined
}

function toOffer(name: string, file: IndexFile, target: PythonTarget): Offer[] {
  const wheel = parseWheelName(file.filename)
  const version = wheel && parsePythonVersion(wheel.version)
  const { integrity } = file
  if (!wheel || !version || wheel.name !== normalizeProjectName(name) || integrity === null) return []
  return [{ file: { ...file, integrity }, version, rank: fitsRequirement(file, target) ? rankWheel(wheel, target) : undefined }]
}

function fitsRequirement({ requiresPython }: IndexFile, { minor }: PythonTarget): boolean {
  if (minor === null || requiresPython === null) return true
  const python = parsePythonVersion(`3.${minor}.99`)
  const clauses = parseSpecifiers(requiresPython)
  return !python || !clauses || satisfiesSpecifiers(python, clauses)
}

/** Versions of source archives: for messages alone. */
function sourceVersions(name: string, files: readonly IndexFile[]): PythonVersion[] {
  return files.flatMap(({ filename }) => {
    const [, project = '', text = ''] = /^(.+)-([^-]+)\.(?:tar\.gz|zip)$/.exec(filename) ?? []
    const version = normalizeProjectName(project) === normalizeProjectName(name) ? parsePythonVersion(text) : undefined
    return version ? [version] : []
  })
}

/** Newest first. */
function uniqueVersions(versions: readonly PythonVersion[]): PythonVersion[] {
  return versions
    .toSorted((left, right) => comparePythonVersions(right, left))
    .filter((version, index, sorted) => {
      const before = sorted[index - 1]
      return before === undefined || comparePythonVersions(before, version) !== 0
    })
}
