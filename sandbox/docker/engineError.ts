import { findCoded, hasCode, PkgdError } from '../../daemon/core/errors.ts'

const gone = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'EACCES',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNABORTED',
]

/** The HTTP status that the engine answered with, or undefined. */
export function statusOf(error: unknown): number | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const { statusCode } = at as { statusCode?: unknown }
    if (typeof statusCode === 'number') return statusCode
  }
  return undefined
}

/** The engine's own words, without the client's wrapping. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/^\(HTTP code \d+\) [^-]* - /, '').trim()
}

/** What the engine or the way to it failed with, as an error of pkgd's. `what` completes "The engine could not …". */
export function toEngineError(error: unknown, what: string): PkgdError {
  const coded = findCoded(error)
  if (coded) return coded
  const reason = reasonOf(error)
  if (/no space left on device|disk quota exceeded/i.test(reason)) {
    return new PkgdError('DISK_FULL', `The container engine could not ${what}: no space is left on its disk`, {
      cause: error,
      hint: 'free some space and try again',
    })
  }
  const status = statusOf(error)
  if (status === undefined && (gone.some((code) => hasCode(error, code)) || /socket hang up/.test(reason))) {
    const denied = hasCode(error, 'EACCES')
    return new PkgdError('ENGINE_UNREACHABLE', `The container engine does not answer (${reason})`, {
      cause: error,
      hint: denied ? "let this user use the engine's socket" : 'start it, or say where it is with DOCKER_HOST',
    })
  }
  if (status === 404 && /no such image|manifest unknown/i.test(reason)) {
    return new PkgdError('IMAGE_UNAVAILABLE', `The container engine could not ${what}: ${reason}`, { cause: error })
  }
  if (status === 404 && /no such container|no such exec/i.test(reason)) {
    return new PkgdError('SANDBOX_NOT_FOUND', `The sandbox no longer exists: the engine could not ${what}`, { cause: error })
  }
  if (status === 400 && /bind source path does not exist|invalid mount config/i.test(reason)) {
    return new PkgdError('MOUNT_REFUSED', `The container engine could not ${what}: ${reason}`, {
      cause: error,
      hint: 'name a folder that exists where the engine runs and is not its own',
    })
  }
  return new PkgdError('INTERNAL', `The container engine could not ${what}: ${reason}`, { cause: error })
}
