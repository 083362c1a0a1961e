import { basename } from 'node:path'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { fetchGit } from '../fetch/git/fetchGit.ts'
import { resolveCommit } from '../fetch/git/resolveCommit.ts'
import { readManifest } from '../manifest/readManifest.ts'
import { extractArchive } from '../store/extractArchive.ts'
import type { Candidate, Resolution } from './resolution.ts'
import type { ResolverDeps } from './resolverDeps.ts'
import { withScratch } from './scratch.ts'

/** A folder on this machine: its manifest is read where it is. */
export async function resolveFolder(path: string): Promise<Candidate> {
  return toCandidate({ kind: 'folder', path }, path)
}

/** An archive on this machine, unpacked into scratch space to read its manifest. */
export async function resolveArchive(deps: ResolverDeps, path: string, context: OperationContext): Promise<Candidate> {
  try {
    return await fromArchive(deps, path, null, basename(path), context, (integrity) => ({ kind: 'archive', path, integrity }))
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR') && !hasCode(error, 'EISDIR')) throw error
    throw new PkgdError('SOURCE_NOT_FOUND', `There is no archive ${path}`, { hint: 'check the path', cause: error })
  }
}

/** An archive on a web server; it stays in the download cache, so that fetching it afterwards needs no second download. */
export async function resolveHttps(
  deps: ResolverDeps,
  url: string,
  integrity: string | null,
  context: OperationContext,
): Promise<Candidate> {
  const { file } = await deps.remote.downloads.get(deps.remote.client({}), { url, integrity, name: url }, context)
  return fromArchive(deps, file, integrity, url, context, (received) => ({ kind: 'https', url, integrity: integrity ?? received }))
}

/** A repository at a commit: a branch or tag is looked up now and pinned. */
export async function resolveGit(deps: ResolverDeps, url: string, ref: string | null, context: OperationContext): Promise<Candidate> {
  return withScratch(deps.tmp, async (scratch) => {
    context.progress({ stage: 'plan', message: url })
    const commit = await resolveCommit({ url, env: deps.env, cwd: scratch }, ref, context)
    return withScratch(deps.tmp, async (directory) => {
      await fetchGit({ url, commit, directory, limits: deps.limits, tmp: deps.tmp, env: deps.env }, context)
      return toCandidate({ kind: 'git', url, commit }, directory)
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
    return toCandidate(toResolution(received.integrity), directory)
  })
}

async function toCandidate(resolution: Resolution, directory: string): Promise<Candidate> {
  const { manifest, origin } = await readManifest(directory)
  return { resolution, manifest, manifestOrigin: origin, layout: 'files' }
}
