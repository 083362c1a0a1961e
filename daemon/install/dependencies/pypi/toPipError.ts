import type { BuildResult } from '../../../../sandbox/sandboxDriver.ts'
import { type ErrorCode, PkgdError } from '../../../core/errors.ts'

const unreachable =
  /NewConnectionError|NameResolutionError|Temporary failure in name resolution|Name or service not known|Network is unreachable|Connection refused|ConnectTimeoutError|ReadTimeoutError|Read timed out|ProxyError|ConnectionResetError|Could not fetch URL .*(connection error|SSL)|CERTIFICATE_VERIFY_FAILED/

/** Whether pip ended because an index was out of reach. */
export const isIndexUnreachable = (output: string): boolean => unreachable.test(output)

/** What pip's failure means; its exit code is the same for all. Recognized by pip's own words. */
export function toPipError(
  result: BuildResult,
  packageId: string,
  options: { readonly locked: boolean; readonly sdist: boolean },
): PkgdError {
  const { exit, output } = result
  const said = output.split('\n').filter((line) => /^\s*(ERROR|error)\b/.test(line))
  const detail = (said.at(-1) ?? output.trim().split('\n').at(-1) ?? '').trim().slice(0, 400)
  const fail = (code: ErrorCode, message: string, hint: string) =>
    new PkgdError(code, `${message}: ${detail || 'pip said nothing'}`, { hint })
  if (exit.kind === 'oom') {
    return fail('DEPENDENCY_INSTALL_FAILED', `pip ran out of memory for ${packageId}`, 'raise limits.max.memory in pkgd.yaml')
  }
  if (/No space left on device|\[Errno 28\]/.test(output))
    return fail('DISK_FULL', 'No space is left on the disk', 'free some space and try again')
  if (/DO NOT MATCH THE HASHES/i.test(output)) {
    return fail('INTEGRITY_MISMATCH', `A dependency of ${packageId} is not what was locked`, 'do not use it before you know why')
  }
  if (isIndexUnreachable(output)) {
    return fail(
      'REGISTRY_UNREACHABLE',
      `The package index cannot be reached for ${packageId}`,
      'check the network, and index-url, proxy and cert of pip config',
    )
  }
  if (/can't depend on|cannot depend on packages which are not also hosted/.test(output)) {
    return fail('DEPENDENCY_SOURCE', `A dependency of ${packageId} does not come from the index`, 'use a version that is published there')
  }
  if (/ResolutionImpossible|conflicting dependencies/.test(output)) {
    return fail(
      'DEPENDENCY_UNSOLVABLE',
      `The Python dependencies of ${packageId} exclude each other`,
      'change the ranges in dependencies.packages',
    )
  }
  if (/Failed building wheel|subprocess-exited-with-error|metadata-generation-failed/.test(output)) {
    return fail(
      'DEPENDENCY_NOT_BUILT',
      `A dependency of ${packageId} could not be built from source`,
      'use a version that has a wheel for Linux',
    )
  }
  if (/No matching distribution|Could not find a version/.test(output)) {
    if (options.locked)
      return fail(
        'LOCKFILE_OUTDATED',
        `A locked dependency of ${packageId} is no longer there`,
        'install it without --frozen to lock it anew',
      )
    const sources = options.sdist ? '' : '; one without a wheel needs install.sdist: true in pkgd.yaml'
    return fail('DEPENDENCY_INSTALL_FAILED', `A dependency of ${packageId} was not found`, `check its name and range${sources}`)
  }
  return fail(
    'DEPENDENCY_INSTALL_FAILED',
    `The Python dependencies of ${packageId} could not be installed`,
    'pkg logs and the job show what pip said',
  )
}
