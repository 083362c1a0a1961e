import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hasCode, PkgdError } from '../core/errors.ts'
import type { Home } from '../core/home.ts'

/** The bearer token: `PKGD_TOKEN`, else the home's, which is made at the first start. */
export function loadToken(home: Home, env: Readonly<Record<string, string | undefined>>): string {
  if (env.PKGD_TOKEN) return checkToken(env.PKGD_TOKEN, 'PKGD_TOKEN')
  try {
    const token = readFileSync(home.token, 'utf8').trim()
    chmodSync(home.token, 0o600)
    return checkToken(token, home.token)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  const token = randomBytes(32).toString('base64url')
  writeFileSync(`${home.token}.new`, `${token}\n`, { mode: 0o600, flush: true })
  renameSync(`${home.token}.new`, home.token)
  return token
}

function checkToken(token: string, where: string): string {
  if (/^[\x21-\x7e]{16,}$/.test(token)) return token
  throw new PkgdError('CONFIG_INVALID', `The token in ${where} is not one: it needs at least 16 visible characters without blanks`, {
    hint: `remove ${where}: a new token is made at the next start`,
  })
}
