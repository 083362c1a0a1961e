import semver from 'semver'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import type { NpmRegistry, Packument, PublishedVersion } from '../fetch/npm/npmRegistry.ts'
import { pickNpmVersion } from '../fetch/npm/pickNpmVersion.ts'
import { deriveNpmManifest } from '../manifest/deriveNpmManifest.ts'
import { interpretPackageJson } from '../manifest/readManifest.ts'
import type { Candidate } from './resolution.ts'

/** A package of an npm registry. A tag or a version takes one small request, a range two. Errors: PACKAGE_NOT_FOUND, VERSION_NOT_FOUND, MANIFEST_*, REGISTRY_UNREACHABLE. */
export async function resolveNpm(npm: NpmRegistry, name: string, range: string, context: OperationContext): Promise<Candidate> {
  context.progress({ stage: 'plan', message: `${name}@${range}` })
  if (semver.valid(range) !== null || semver.validRange(range) === null) {
    const direct = await npm.manifest(name, range, {}, context)
    if (direct && (direct.version === range || semver.valid(range) === null)) return toNpmCandidate(name, direct)
  }
  const packument = await npm.packument(name, {}, context)
  if (!packument || Object.keys(packument.versions).length === 0) {
    throw new PkgdError('PACKAGE_NOT_FOUND', `The npm registry has no package "${name}"`, {
      hint: 'check the name; a private package needs its registry and token in ~/.npmrc',
    })
  }
  const picked = pickNpmVersion(packument, range)
  if (!picked) throw noVersion(packument, range)
  const complete = (await npm.manifest(name, picked.version, {}, context)) ?? (await fromWhole(npm, name, picked, context))
  return toNpmCandidate(name, complete)
}

/** Some registries answer only for whole packages. */
async function fromWhole(npm: NpmRegistry, name: string, picked: PublishedVersion, context: OperationContext): Promise<PublishedVersion> {
  const packument = await npm.packument(name, { whole: true }, context)
  return packument?.versions[picked.version] ?? picked
}

/** A published version as a candidate: with a manifest of ours its files are the package, without it becomes a generated project that depends on it. */
function toNpmCandidate(name: string, published: PublishedVersion): Candidate {
  const { version, tarball, integrity, packageJson } = published
  const resolution = { kind: 'npm', name, version, tarball, integrity } as const
  if (packageJson.pkgd === undefined) {
    return { resolution, manifest: deriveNpmManifest(packageJson), manifestOrigin: 'derived', layout: 'npm-project' }
  }
  const { manifest, origin } = interpretPackageJson(packageJson, `${name}@${version}`)
  return { resolution, manifest, manifestOrigin: origin, layout: 'files' }
}

/** The same, or undefined for a version that has no usable manifest. */
export function tryNpmCandidate(name: string, published: PublishedVersion): Candidate | undefined {
  try {
    return toNpmCandidate(name, published)
  } catch (error) {
    if (['MANIFEST_MISSING', 'MANIFEST_INVALID', 'AMBIGUOUS_ECOSYSTEM'].some((code) => hasCode(error, code))) return undefined
    throw error
  }
}

function noVersion(packument: Packument, range: string): PkgdError {
  const newest = Object.keys(packument.versions)
    .filter((version) => semver.valid(version, { loose: true }) !== null)
    .sort((left, right) => semver.rcompare(left, right, { loose: true }))
  const tags = Object.entries(packument.tags).map(([tag, version]) => `${tag} is ${version}`)
  return new PkgdError('VERSION_NOT_FOUND', `No version of ${packument.name} satisfies "${range}"`, {
    hint: `there are ${nearest(newest, range).join(', ')}${newest.length > 5 ? ', …' : ''}${tags.length > 0 ? ` (${tags.slice(0, 3).join(', ')})` : ''}`,
  })
}

/** Up to five versions: those of the major version that was asked for first, then the newest. */
function nearest(newest: readonly string[], range: string): string[] {
  const wanted = semver.coerce(range)?.major
  const near = newest.filter((version) => semver.major(version, { loose: true }) === wanted)
  return [...new Set([...near.slice(0, 3), ...newest])].slice(0, 5)
}
