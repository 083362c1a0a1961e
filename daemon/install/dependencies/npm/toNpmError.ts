import { type ErrorCode, PkgdError } from '../../../core/errors.ts'
import type { NpmWorkerReply } from './workerProtocol.ts'

type Failure = Extract<NpmWorkerReply, { kind: 'failed' }>

const unreachable = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOTCACHED',
  'FETCH_ERROR',
  'ERR_SOCKET_TIMEOUT',
  'EIDLETIMEOUT',
  'ECONNECTIONTIMEOUT',
  'ERESPONSETIMEOUT',
  'ETRANSFERTIMEOUT',
  'E502',
  'E503',
  'E504',
])

/** Whether the registry was out of reach, so that the cache may be all there is. */
export const isUnreachable = (failure: Failure): boolean => unreachable.has(failure.code)

const sourceCodes: Record<string, string> = { EALLOWGIT: 'git', EALLOWREMOTE: 'url', EALLOWFILE: 'file', EALLOWDIRECTORY: 'file' }

/** What the npm worker failed with, in pkgd's terms. */
export function toNpmError(failure: Failure, packageId: string, locked: boolean): PkgdError {
  const about = failure.package ? ` (${failure.package})` : ''
  const fail = (code: ErrorCode, message: string, hint: string) => new PkgdError(code, `${message}${about}: ${failure.message}`, { hint })
  const source = sourceCodes[failure.code]
  if (source) {
    return fail(
      'DEPENDENCY_SOURCE',
      `A dependency of ${packageId} does not come from the registry`,
      `if you trust it, add ${source} to install.allow_sources in pkgd.yaml`,
    )
  }
  if (isUnreachable(failure)) {
    return fail(
      'REGISTRY_UNREACHABLE',
      `The npm registry cannot be reached for ${packageId}`,
      'check the network, and registry and proxy in ~/.npmrc',
    )
  }
  switch (failure.code) {
    case 'ETARGET':
    case 'ENOVERSIONS':
      if (locked)
        return fail('LOCKFILE_OUTDATED', `pkgd.lock lacks a dependency of ${packageId}`, 'install it without --frozen to lock it anew')
      return fail(
        'DEPENDENCY_INSTALL_FAILED',
        `A dependency of ${packageId} has no such version`,
        'check dependencies.packages in the manifest',
      )
    case 'E404':
      return fail('DEPENDENCY_INSTALL_FAILED', `A dependency of ${packageId} does not exist`, 'check its name in dependencies.packages')
    case 'ERESOLVE':
      return fail(
        'DEPENDENCY_UNSOLVABLE',
        `The npm dependencies of ${packageId} exclude each other`,
        'change the ranges in dependencies.packages',
      )
    case 'EINTEGRITY':
      return fail('INTEGRITY_MISMATCH', `A dependency of ${packageId} is not what its integrity says`, 'do not use it before you know why')
    case 'ENOSPC':
    case 'EDQUOT':
      return fail('DISK_FULL', 'No space is left on the disk', 'free some space and try again')
    case 'E401':
    case 'E403':
      return fail('DEPENDENCY_INSTALL_FAILED', `The npm registry refused a dependency of ${packageId}`, 'check the token in ~/.npmrc')
    default:
      return fail(
        'DEPENDENCY_INSTALL_FAILED',
        `The npm dependencies of ${packageId} could not be installed`,
        `npm's code is ${failure.code}`,
      )
  }
}
