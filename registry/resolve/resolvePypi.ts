import { PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { pickWheel } from '../fetch/pypi/pickWheel.ts'
import { readDistribution } from '../fetch/pypi/readDistribution.ts'
import { derivePypiManifest } from '../manifest/derivePypiManifest.ts'
import type { Candidate } from './resolution.ts'
import type { ResolverDeps } from './resolverDeps.ts'

/**
 * A package of the index that pip is configured for: its newest wheel that fits, and a manifest derived from the console scripts in it.
 * Errors: PACKAGE_NOT_FOUND, VERSION_NOT_FOUND, MANIFEST_MISSING, INTEGRITY_MISMATCH, ARCHIVE_*, REGISTRY_UNREACHABLE.
 */
export async function resolvePypi(deps: ResolverDeps, name: string, range: string, context: OperationContext): Promise<Candidate> {
  context.progress({ stage: 'plan', message: `${name}${range}` })
  const files = await deps.pypi.files(name, context)
  if (!files)
    throw new PkgdError('PACKAGE_NOT_FOUND', `The Python package index has no package "${name}"`, {
      hint: 'check the name, and index-url in pip.conf',
    })
  const { picked, versions, withoutWheel } = pickWheel(name, files, range, { minor: await deps.pythonMinor(), arch: process.arch })
  if (!picked) throw noWheel(name, range, versions, withoutWheel)
  const { url, integrity, version, filename } = picked
  const { client, authorization } = await deps.pypi.reach(url)
  const { file } = await deps.remote.downloads.get(
    client,
    { url, integrity, name: filename, ...(authorization && { authorization }) },
    context,
  )
  const distribution = await readDistribution(file, filename)
  return {
    resolution: { kind: 'pypi', name, version, url, integrity },
    manifest: derivePypiManifest({ ...distribution, name, version }),
    manifestOrigin: 'derived',
    layout: 'pypi-project',
  }
}

function noWheel(name: string, range: string, versions: readonly string[], withoutWheel: string | undefined): PkgdError {
  const wanted = range === '' ? 'any version' : `"${range}"`
  if (withoutWheel !== undefined) {
    return new PkgdError('VERSION_NOT_FOUND', `${name} ${withoutWheel} satisfies ${wanted}, but has no wheel that runs here`, {
      hint: 'ask for a version that has wheels for Linux and this Python, or put it into dependencies.packages of a package of your own',
    })
  }
  return new PkgdError('VERSION_NOT_FOUND', `No version of ${name} satisfies ${wanted}`, {
    hint: versions.length === 0 ? 'it has no release' : `there are ${versions.slice(0, 5).join(', ')}${versions.length > 5 ? ', …' : ''}`,
  })
}
