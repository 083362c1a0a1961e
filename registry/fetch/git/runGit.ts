import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { hasCode, PkgdError } from '../../../daemon/core/errors.ts'
import type { OperationContext } from '../../../daemon/core/ports.ts'

const run = promisify(execFile)

type Env = Readonly<Record<string, string | undefined>>

/**
 * Runs the system's git for a repository that is not trusted: no hooks, no submodules, no transport but https, ssh and file, no prompt, none of the caller's repository settings.
 * The user's own git configuration (credential helpers, certificates, `insteadOf`) counts. Arguments that come from outside stand after `--` or are checked by the caller.
 * Errors: SOURCE_NOT_FOUND, REGISTRY_UNREACHABLE, OPERATION_CANCELLED.
 */
export async function runGit(
  args: readonly string[],
  options: { readonly env: Env; readonly cwd: string; readonly name: string },
  context: OperationContext,
): Promise<string> {
  try {
    const { stdout } = await run('git', [...hardening, ...args], {
      cwd: options.cwd,
      env: toGitEnv(options.env),
      signal: context.signal,
      maxBuffer: 64 * 1024 * 1024,
    })
    return stdout
  } catch (error) {
    if (context.signal.aborted) throw new PkgdError('OPERATION_CANCELLED', `Fetching ${options.name} was cancelled`, { cause: error })
    throw toGitError(error, options.name)
  }
}

const hardening = [
  ...['-c', 'core.hooksPath=/dev/null'],
  ...['-c', 'core.fsmonitor=false'],
  ...['-c', 'protocol.ext.allow=never'],
  ...['-c', 'submodule.recurse=false'],
  ...['-c', 'fetch.recurseSubmodules=false'],
  ...['-c', 'transfer.fsckObjects=true'],
  ...['-c', 'gc.auto=0'],
]

function toGitEnv(env: Env): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|CONFIG_(COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)|TEMPLATE_DIR)$/.test(
        entry[0],
      ),
  )
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'true',
    GIT_SSH_COMMAND: env.GIT_SSH_COMMAND ?? 'ssh -oBatchMode=yes',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_TEMPLATE_DIR: '',
  }
}

const absent =
  /repository .* not found|does not appear to be a git repository|not found|couldn't find remote ref|could not read Username|does not exist|not our ref|not a valid object name|not a tree object/i

function toGitError(cause: unknown, name: string): PkgdError {
  const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : ''
  const said = stderr
    .split('\n')
    .filter((line) => /^(fatal|error):/.test(line))
    .map((line) => line.replace(/^(fatal|error):\s*/, ''))
    .join('; ')
  if (hasCode(cause, 'ENOENT')) {
    return new PkgdError('SOURCE_NOT_FOUND', `${name} cannot be fetched: git is not installed`, { hint: 'install git', cause })
  }
  if (absent.test(said)) {
    return new PkgdError('SOURCE_NOT_FOUND', `There is no repository ${name}, or no access to it: ${said}`, {
      hint: 'check the address and what follows "#"',
      cause,
    })
  }
  return new PkgdError('REGISTRY_UNREACHABLE', `${name} cannot be fetched: ${said || 'git failed'}`, {
    hint: 'check the network and try again',
    cause,
  })
}
