import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import npa from 'npm-package-arg'
import semver from 'semver'
import { PkgdError } from '../../daemon/core/errors.ts'
import { isPackageId, toPackageId } from '../manifest/packageId.ts'
import { isPythonRange } from '../manifest/pythonRange.ts'
import { parseGitSpec } from './parseGitSpec.ts'
import { parseHttpsSpec } from './parseHttpsSpec.ts'
import type { Source } from './resolution.ts'
import { specError } from './specError.ts'

/** Archives that the store reads. */
const archive = /\.(tgz|tar\.gz|tar)$/i

/**
 * What a spec asks for, not yet looked up; nothing is read from disk. Relative paths are relative to `cwd`. `integrity` (SRI) belongs to an https archive.
 * Ranges: npm's is a semver range, a version or a tag (`latest` when none is given), PyPI's is PEP 440 (`==` before a bare version, empty when none is
 * given), a registry id's is a semver range (`*` when none is given). Throws SPEC_INVALID with a hint.
 */
export function parseSpec(spec: string, cwd: string, integrity?: string): Source {
  const text = spec.trim()
  if (text === '') throw specError(spec, 'is empty', 'name a folder, an archive, npm:<name>, pypi:<name>, a git address or an id')
  if (/[\u0000-\u001f\u007f]/.test(text)) throw specError(spec, 'holds a control character', 'write it on one line')
  if (text.startsWith('-')) throw specError(spec, 'looks like an option', `a path that begins with "-" is written ./${text}`)
  const source = parseForm(text, cwd, integrity)
  if (integrity !== undefined && source.kind !== 'https') {
    throw specError(text, 'takes no integrity', 'only an https archive does: the other sources carry their own')
  }
  return source
}

function parseForm(text: string, cwd: string, integrity: string | undefined): Source {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  switch (scheme) {
    case undefined:
      return parsePathOrId(text, cwd)
    case 'npm':
      return parseNpm(text)
    case 'pypi':
      return parsePypi(text)
    case 'file':
      return toPath(pathOfFileUrl(text, cwd))
    case 'https':
    case 'http':
      return parseHttpsSpec(text, integrity)
    case 'git+https':
    case 'git+http':
    case 'git+ssh':
    case 'git+file':
    case 'git':
    case 'ssh':
      return parseGitSpec(text)
    case 'github':
    case 'gitlab':
      throw specError(
        text,
        `"${scheme}:" is not a form that is known`,
        `write git+https://${scheme}.com/${text.slice(scheme.length + 1)}.git`,
      )
    default:
      throw specError(
        text,
        `"${scheme}:" is not a form that is known`,
        'use npm:, pypi:, git+https:, git+ssh:, git+file:, https: or a path',
      )
  }
}

const isPath = (text: string): boolean => /^(\.{1,2}(\/|$)|\/)/.test(text)

function toPath(path: string): Source {
  if (/\.(zip|mcpb|dxt|whl|rar|7z|tar\.(bz2|xz|zst))$/i.test(path)) {
    throw specError(path, 'is an archive of a kind that is not read', 'pack it as a .tgz: pkg pack <folder>')
  }
  return archive.test(path) ? { kind: 'archive', path } : { kind: 'folder', path }
}

function pathOfFileUrl(text: string, cwd: string): string {
  if (!/^file:\/\//i.test(text)) return resolve(cwd, text.slice('file:'.length))
  try {
    return fileURLToPath(text)
  } catch (error) {
    throw new PkgdError('SPEC_INVALID', `"${text}" names no file of this machine`, { hint: 'write file:///absolute/path', cause: error })
  }
}

function parsePathOrId(text: string, cwd: string): Source {
  if (isPath(text) || archive.test(text)) return toPath(resolve(cwd, text))
  if (text.startsWith('~')) throw specError(text, 'begins with "~", which only a shell expands', 'write the absolute path')
  if (text.startsWith('@')) throw specError(text, 'has a scope, which only npm packages have', `write npm:${text}`)
  if (text.includes('/')) throw specError(text, 'is neither a path nor an id', `a folder is written ./${text}, a repository git+https://…`)
  const at = text.indexOf('@')
  const id = at === -1 ? text : text.slice(0, at)
  const range = at === -1 ? '*' : text.slice(at + 1).trim()
  if (!isPackageId(id)) {
    const near = toPackageId(id)
    throw specError(
      text,
      `"${id}" is not a package id`,
      near && near !== id ? `did you mean ${near}? A folder is written ./${id}` : `a folder is written ./${id}`,
    )
  }
  if (range === '' || semver.validRange(range) === null)
    throw specError(text, `"${range}" is not a semver range`, `write ${id}@^1.0.0, or ${id} alone`)
  return { kind: 'registry', id, range }
}

function parseNpm(text: string): Source {
  const rest = text.slice('npm:'.length)
  const example = 'write npm:<name>, npm:<name>@<range> or npm:@<scope>/<name>@<range>'
  const parsed = readNpm(text, rest, example)
  const { name } = parsed
  if (!name || (parsed.type !== 'version' && parsed.type !== 'range' && parsed.type !== 'tag')) {
    throw specError(text, 'does not name a package of the npm registry', example)
  }
  const range = rest.slice(name.length + 1).trim()
  return { kind: 'npm', name, range: range === '' ? 'latest' : range }
}

function readNpm(text: string, rest: string, example: string): npa.Result {
  try {
    return npa(rest)
  } catch (error) {
    throw new PkgdError('SPEC_INVALID', `"${text}": ${error instanceof Error ? error.message : String(error)}`, {
      hint: example,
      cause: error,
    })
  }
}

function parsePypi(text: string): Source {
  const [, name, extras, at, written = ''] =
    /^pypi:([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(@)?\s*(.*)$/i.exec(text) ?? []
  const example = 'write pypi:<name>, pypi:<name>@<version> or pypi:<name>@>=1'
  if (name === undefined) throw specError(text, 'does not name a package of PyPI', example)
  if (extras !== undefined) {
    throw specError(text, 'names extras', `put "${name}${extras}" into dependencies.packages of a package of your own`)
  }
  if (at && written === '') throw specError(text, 'names no version after "@"', example)
  const range = /^v?\d/.test(written) && at ? `==${written}` : written
  if (range !== '' && !isPythonRange(range)) throw specError(text, `"${written}" is not a version range of Python packages`, example)
  return { kind: 'pypi', name, range }
}
