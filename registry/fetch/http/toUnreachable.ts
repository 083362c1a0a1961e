import { findCoded, hasCode, PkgdError } from '../../../daemon/core/errors.ts'
import type { HttpAnswer, HttpRequest } from './httpExchange.ts'

const reasons: readonly [code: string, reason: string][] = [
  ['ENOTFOUND', 'its name is not known'],
  ['EAI_AGAIN', 'its name cannot be looked up'],
  ['ECONNREFUSED', 'the connection is refused'],
  ['ECONNRESET', 'the connection broke'],
  ['ETIMEDOUT', 'it does not answer in time'],
  ['EHOSTUNREACH', 'there is no way to it'],
  ['ENETUNREACH', 'there is no network'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
]

/** A failed request as a coded error that names the host and the reason. */
export function toUnreachable(error: unknown, request: HttpRequest): PkgdError {
  const coded = findCoded(error)
  if (coded) return coded
  const host = new URL(request.url).host
  if (request.signal.aborted) return new PkgdError('OPERATION_CANCELLED', `The request to ${host} was cancelled`, { cause: error })
  const known = reasons.find(([code]) => hasCode(error, code))?.[1]
  const reason = known ?? (error instanceof Error ? error.message : String(error))
  return new PkgdError('REGISTRY_UNREACHABLE', `${host} cannot be reached: ${reason}`, {
    hint: 'check the network, the proxy and the certificates, then try again',
    cause: error,
  })
}

/** An answer that is neither the thing nor "no such thing". */
export function toRefusal(answer: Pick<HttpAnswer, 'status' | 'url'>): PkgdError {
  const { host } = new URL(answer.url)
  const denied = answer.status === 401 || answer.status === 403
  return new PkgdError('REGISTRY_UNREACHABLE', `${host} answered ${answer.status}${denied ? ': access is denied' : ''}`, {
    hint: denied ? 'check the token for it in ~/.npmrc or pip.conf' : 'try again later',
  })
}
