import { PkgdError } from '../../../daemon/core/errors.ts'
import type { OperationContext } from '../../../daemon/core/ports.ts'
import { runGit } from './runGit.ts'

export interface GitPlace {
  readonly url: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where git runs; any directory outside of a repository. */
  readonly cwd: string
}

const commitForm = /^([0-9a-f]{40}|[0-9a-f]{64})$/

/** The commit that a branch, tag or full commit id stands for now, or with null the default branch. A tag goes before a branch. Errors: SOURCE_NOT_FOUND, REGISTRY_UNREACHABLE. */
export async function resolveCommit(place: GitPlace, ref: string | null, context: OperationContext): Promise<string> {
  if (ref !== null && commitForm.test(ref)) return ref
  const output = await runGit(['ls-remote', '--', place.url], { ...place, name: place.url }, context)
  const commit = pickCommit(output, ref)
  if (commit !== undefined) return commit
  throw new PkgdError(
    'SOURCE_NOT_FOUND',
    ref === null ? `${place.url} is an empty repository` : `${place.url} has no branch or tag "${ref}"`,
    {
      hint: 'name a branch, a tag or a full commit id after "#"',
    },
  )
}

/** The commit in the output of `git ls-remote`. An annotated tag's line with `^{}` is its commit. */
export function pickCommit(output: string, ref: string | null): string | undefined {
  const lines = output.split('\n').map((line) => line.split('\t'))
  const refs = new Map(lines.flatMap(([commit, name]) => (commit && name && commitForm.test(commit) ? [[name, commit] as const] : [])))
  if (ref === null) return refs.get('HEAD')
  return [`refs/tags/${ref}^{}`, `refs/tags/${ref}`, `refs/heads/${ref}`, ref]
    .map((name) => refs.get(name))
    .find((commit) => commit !== undefined)
}
