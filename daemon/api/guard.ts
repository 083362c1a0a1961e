import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { PkgdError } from '../core/errors.ts'

/** Names that mean this machine, whoever resolves them. Any other name may be an attacker's that resolves here (DNS rebinding). */
const ownNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

const hostForm = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i

/** Throws HOST_FORBIDDEN unless the request is addressed to this machine by a name of its own and, from a browser, comes from the same origin. */
export function checkHost({ host, origin }: Pick<IncomingHttpHeaders, 'host' | 'origin'>): void {
  const name = hostForm.exec(host ?? '')?.[1]?.toLowerCase()
  if (name === undefined || !ownNames.has(name)) {
    throw new PkgdError(
      'HOST_FORBIDDEN',
      `The Host header ${host === undefined ? 'is missing' : `"${host}" is not one this daemon serves`}`,
      {
        hint: 'use http://localhost or http://127.0.0.1',
      },
    )
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host?.toLowerCase()}`) {
    throw new PkgdError('HOST_FORBIDDEN', `The Origin "${origin}" is not the daemon's own`, {
      hint: 'web pages of others cannot call the daemon',
    })
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** A check of the bearer token that takes as long for a near miss as for any other. */
export function createTokenCheck(token: string): (authorization: string | undefined) => void {
  const expected = digest(token)
  return (authorization) => {
    const given = /^bearer +([^\s]+)$/i.exec(authorization?.trim() ?? '')?.[1]
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return
    throw new PkgdError(
      'UNAUTHORIZED',
      given === undefined ? 'A bearer token is needed' : 'The bearer token is not the one of this daemon',
      {
        hint: 'send "Authorization: Bearer <token>"; the token is in $PKGD_HOME/token',
      },
    )
  }
}
