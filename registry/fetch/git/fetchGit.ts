import { mkdtemp } from 'node:fs/promises'
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
    demandWithin(limits, name, await git([...at, 'ls-tree', '-r', '-l', '--full-tree', commit]))
    const archive = join(scratch, 'commit.tar')
    await git([...at, 'archive', '--format=tar', '--prefix=package/', '-o', archive, commit])
    await extractArchive({ archive, directory, limits, integrity: null, name, signal: context.signal })
  } finally {
    await removeTree(scratch)
  }
}

/** Refuses a commit that holds too much before any of it is unpacked: packs compress as well as bombs do. `listing` is that of `git ls-tree -l`. */
function demandWithin(limits: ArchiveLimits, name: string, listing: string): void {
  const lines = listing.split('\n').filter((line) => line !== '')
  const bytes = lines.reduce((sum, line) => sum + Number(/^\d+ blob [0-9a-f]+ +(\d+)\t/.exec(line)?.[1] ?? 0), 0)
  const what =
    lines.length > limits.archiveEntries
      ? `${limits.archiveEntries} entries`
      : bytes > limits.archiveBytes
        ? `${limits.archiveBytes} bytes`
        : undefined
  if (what === undefined) return
  throw new PkgdError('ARCHIVE_TOO_LARGE', `${name} holds more than ${what}`, {
    hint: 'the operator can raise limits.archive and limits.archive_entries in pkgd.yaml',
  })
}
