import { mkdtemp, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, PkgdError } from '../../../daemon/core/errors.ts'
import type { OperationContext } from '../../../daemon/core/ports.ts'
import type { ArchiveLimits } from '../../store/archiveLimits.ts'
import { extractArchive } from '../../store/extractArchive.ts'
import { removeTree } from '../../store/removeTree.ts'
import { runGit } from './runGit.ts'

export interface GitFetch {
  readonly url: string
  readonly commit: string
  /** Exists and is empty. */
  readonly directory: string
  readonly limits: ArchiveLimits
  readonly tmp: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Brings one commit's files, without history. They leave the repository as an archive and pass the same extraction as any other archive:
 * git never writes a work tree, so neither filters nor links of the repository have any effect here.
 */
export async function fetchGit(fetch: GitFetch, context: OperationContext): Promise<void> {
  const { url, commit, directory, limits, env } = fetch
  const scratch = await mkdtemp(join(fetch.tmp, 'git-'))
  try {
    const name = `${url}#${commit.slice(0, 12)}`
    const git = (args: readonly string[]) => runGit(args, { env, cwd: scratch, name }, context)
    await git(['init', '--quiet', '--bare', 'repository'])
    const at = ['--git-dir', join(scratch, 'repository')]
    try {
      await git([...at, 'fetch', '--quiet', '--no-tags', '--depth', '1', '--', url, commit])
    } catch (error) {
      if (hasCode(error, 'OPERATION_CANCELLED')) throw error
      // A server that does not give out single commits gives its branches and tags.
      await git([...at, 'fetch', '--quiet', '--no-tags', '--', url, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'])
    }
    const archive = join(scratch, 'commit.tar')
    await git([...at, 'archive', '--format=tar', '--prefix=package/', '-o', archive, commit])
    if ((await stat(archive)).size === 0) throw new PkgdError('SOURCE_NOT_FOUND', `${name} holds nothing`)
    await extractArchive({ archive, directory, limits, integrity: null, name, signal: context.signal })
  } finally {
    await removeTree(scratch)
  }
}
