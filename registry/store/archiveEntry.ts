import { PkgdError } from '../../daemon/core/errors.ts'

/** A header of an archive, as far as it decides what may be written. */
export interface ArchiveHeader {
  readonly type: string
  readonly path: string
  readonly linkpath?: string | undefined
  readonly mode?: number | undefined
  readonly size: number
}

/** What an entry becomes on disk. Paths are relative, normalized, inside. A `copy` is a hard link's: the content of another entry. */
export type PlannedEntry =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly size: number; readonly executable: boolean }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'copy'; readonly path: string; readonly from: string }

const longestName = 255
const longestPath = 4096

/** What an entry of an archive may become, or ARCHIVE_UNSAFE. Whether a link stays inside is decided when all entries are known. */
export function planArchiveEntry(header: ArchiveHeader): PlannedEntry {
  const path = toInnerPath(header.path, 'entry')
  switch (header.type) {
    case 'Directory':
      return { kind: 'directory', path }
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
      if (path === '') throw unsafe(`The archive holds a file without a name ("${header.path}")`)
      return { kind: 'file', path, size: header.size, executable: ((header.mode ?? 0) & 0o111) !== 0 }
    case 'SymbolicLink':
      return { kind: 'link', path, target: toLinkTarget(path, header.linkpath ?? '') }
    case 'Link':
      return { kind: 'copy', path, from: toInnerPath(header.linkpath ?? '', 'hard link target') }
    default:
      throw unsafe(`The archive holds "${path}", a ${header.type}; only files, directories and links are allowed`)
  }
}

function toInnerPath(path: string, what: string): string {
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) throw unsafe(`The archive holds the absolute ${what} "${path}"`)
  if (path.includes('\0') || path.includes('\\')) throw unsafe(`The archive holds the ${what} "${path}", a name with a NUL or a backslash`)
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw unsafe(`The archive holds the ${what} "${path}", which climbs out by ".."`)
  if (path.length > longestPath || names.some((name) => Buffer.byteLength(name) > longestName)) {
    throw unsafe(`The archive holds a name that is too long ("${path.slice(0, 64)}…")`)
  }
  return names.join('/')
}

function toLinkTarget(path: string, target: string): string {
  if (target === '' || target.includes('\0') || target.length > longestPath)
    throw unsafe(`The archive's link "${path}" has no usable target`)
  if (target.startsWith('/')) throw unsafe(`The archive's link "${path}" points to the absolute path "${target}"`)
  return target
}

export const unsafe = (message: string, cause?: unknown): PkgdError =>
  new PkgdError('ARCHIVE_UNSAFE', message, { cause, hint: 'pack it again without that entry, or do not trust whoever packed it' })
