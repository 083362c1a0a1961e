import type { Source } from './resolution.ts'
import { specError } from './specError.ts'

// What git check-ref-format refuses, and a leading "-", which would be an option.
const badRef = /^[-./]|\.\.|[\s~^:?*[\\]|@\{|\/\/|\.lock$|[./]$/

/** A `git+https://…#ref` spec. The source's `url` is what git itself understands: without the `git+`. */
export function parseGitSpec(text: string): Source {
  const hash = text.indexOf('#')
  const address = hash === -1 ? text : text.slice(0, hash)
  const ref = hash === -1 ? null : text.slice(hash + 1)
  if (!URL.canParse(address)) throw specError(text, 'is not a git address', 'write git+https://host/owner/name.git#<tag>')
  const url = new URL(address)
  const transport = url.protocol.replace(/:$/, '')
  if (transport === 'git+http' || transport === 'git') {
    throw specError(text, 'would be fetched without encryption', 'write git+https:// or git+ssh://')
  }
  if (transport === 'ssh') throw specError(text, 'lacks the prefix of git', `write git+${text}`)
  if (url.password !== '' || (url.username !== '' && transport !== 'git+ssh')) {
    throw specError(
      text,
      'holds credentials, which would be kept in the lockfile',
      "remove them and use git's credential helper or git+ssh",
    )
  }
  if (url.search !== '') throw specError(text, 'has a query', 'name a branch, tag or commit after "#"')
  if (ref !== null && (ref === '' || badRef.test(ref)))
    throw specError(text, `"${ref}" is not a branch, tag or commit`, 'write it as #v1.0.0')
  if (transport !== 'git+file' && (url.hostname === '' || url.hostname.startsWith('-')))
    throw specError(text, 'names no host', 'write git+https://host/owner/name.git')
  if (url.pathname === '' || url.pathname === '/') throw specError(text, 'names no repository', 'write git+https://host/owner/name.git')
  return { kind: 'git', url: address.slice('git+'.length), ref }
}
