import type { Source } from './resolution.ts'
import { specError } from './specError.ts'

const digestBytes: Readonly<Record<string, number>> = { sha256: 32, sha384: 48, sha512: 64 }

/** Whether the text is one SRI hash that still counts as safe. */
function isIntegrity(text: string): boolean {
  const [, algorithm = '', digest = ''] = /^(sha256|sha384|sha512)-([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = Buffer.from(digest, 'base64')
  return bytes.length === digestBytes[algorithm] && bytes.toString('base64') === digest
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

/** An https archive. Its integrity is given apart, or after a `#`. Plain http is for this machine alone. */
export function parseHttpsSpec(text: string, given: string | undefined): Source {
  if (!URL.canParse(text)) throw specError(text, 'is not an address', 'write https://host/name-1.0.0.tgz')
  const url = new URL(text)
  const fragment = url.hash === '' ? undefined : url.hash.slice(1)
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) throw specError(text, 'would be fetched without encryption', 'write https://')
  if (url.username !== '' || url.password !== '')
    throw specError(text, 'holds credentials, which would be kept in the lockfile', 'remove them')
  if (/\.git$/.test(url.pathname)) throw specError(text, 'is a git repository', `write git+${text}`)
  const integrity = given ?? fragment
  if (integrity !== undefined && !isIntegrity(integrity)) {
    throw specError(
      text,
      `"${integrity}" is not an integrity`,
      'write sha512-<base64>, as `openssl dgst -sha512 -binary | base64` gives it',
    )
  }
  if (given !== undefined && fragment !== undefined && given !== fragment) {
    throw specError(text, 'names two integrities', 'give one, by --integrity or after "#"')
  }
  url.hash = ''
  return { kind: 'https', url: url.href, integrity: integrity ?? null }
}
