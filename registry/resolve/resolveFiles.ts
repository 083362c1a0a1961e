import { basename } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { fetchGit } from '../fetch/git/fetchGit.ts'
import { resolveCommit } from '../fetch/git/resolveCommit.ts'
import { demandArchive } from '../manifest/localSource.ts'
import { readManifest } from '../manifest/readManifest.ts'
import { extractArchive } from '../store/extractArchive.ts'
import type { Candidate, Resolution } from './resolution.ts'
import type { ResolverDeps } from './resolverDeps.ts'
import { withScratch } from './scratch.ts'

/** A folder on this machine: its manifest is read where it is. */
export async function resolveFolder(path: string): Promise<Candidate> {
  return toCandidate({ kind: 'folder', path }, path, path)
}

/** An archive on this machine, unpacked into scratch space to read its manifest. */
export async function resolveArchive(deps: ResolverDeps, path: string, context: OperationContext): Promise<Candidate> {
  await demandArchive(path)
  return fromArchive(deps, path, null, basename(path), context, (integrity) => ({ kind: 'archive', path, integrity }))
}

/**
 * An archive on a web server; it stays in the download cache, so that fetching it afterwards needs no second download. Without an integrity nothing is read of it: INTEGRITY_REQUIRED
 * says what it would be.
 */
export async function resolveHttps(
  deps: ResolverDeps,
  url: string,
  integrity: string | null,
  context: OperationContext,
): Promise<Candidate> {
  const { file, integrity: received } = await deps.remote.downloads.get(deps.remote.client({}), { url, integrity, name: url }, context)
  if (integrity === null) {
    throw new PkgdError('INTEGRITY_REQUIRED', `${url} is installed only with the integrity that its author says it has`, {
      hint: `now it is ${received}; if the author says the same: pkg install ${url} --integrity ${received}`,
    })
  }
  return fromArchive(deps, file, integrity, url, context, () => ({ kind: 'https', url, integrity }))
}

/** A repository at a commit: a branch or tag is looked up now and pinned. */
export async function resolveGit(deps: ResolverDeps, url: string, ref: string | null, context: OperationContext): Promise<Candidate> {
  return withScratch(deps.tmp, async (scratch) => {
    context.progress({ stage: 'plan', message: url })
    const commit = await resolveCommit({ url, env: deps.env, cwd: scratch }, ref, context)
    return withScratch(deps.tmp, async (directory) => {
      await fetchGit({ url, commit, directory, limits: deps.limits, tmp: deps.tmp, env: deps.env }, context)
      return toCandidate({ kind: 'git', url, commit }, directory, url)
    })
  })
}

function fromArchive(
  deps: ResolverDeps,
  archive: string,
  integrity: string | null,
  name: string,
  context: OperationContext,
  toResolution: (integrity: string) => Resolution,
): Promise<Candidate> {
  return withScratch(deps.tmp, async (directory) => {
    const received = await extractArchive({ archive, directory, limits: deps.limits, integrity, name, signal: context.signal })
    return toCandidate(toResolution(received.integrity), directory, name)
  })
}

async function toCandidate(resolution: Resolution, directory: string, name: string): Promise<Candidate> {
  const { manifest, origin } = await readManifest(directory, name)
  return { resolution, manifest, manifestOrigin: origin, layout: 'files' }
}
