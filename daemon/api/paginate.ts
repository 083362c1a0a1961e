import { PkgdError } from '../core/errors.ts'
import type { PageQuery } from './schemas/common.ts'

export const encodeCursor = (key: string): string => Buffer.from(key).toString('base64url')

export function decodeCursor(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString()
  if (encodeCursor(key) !== cursor) throw new PkgdError('USAGE', `The cursor "${cursor}" was not given by this daemon`)
  return key
}

/** RFC 8288: the same request with another cursor. */
export function toLink(url: string, rel: 'next' | 'prev', key: string): string {
  const other = new URL(url, 'http://localhost')
  other.searchParams.set('cursor', encodeCursor(key))
  return `<${other.pathname}${other.search}>; rel="${rel}"`
}

export const nextLink = (url: string, key: string): string => toLink(url, 'next', key)

export interface Page<T> {
  readonly items: T[]
  /** Key of the last item when there is more. */
  readonly next: string | null
}

/** One page of a list in the order of its keys. It holds when items come and go in between: the cursor is a key, not a count. */
export function paginate<T>(all: readonly T[], keyOf: (item: T) => string, { limit = 100, cursor }: PageQuery): Page<T> {
  const sorted = all.map((item) => ({ key: keyOf(item), item })).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  const rest = after === undefined ? sorted : sorted.filter(({ key }) => key > after)
  const page = rest.slice(0, limit)
  return { items: page.map(({ item }) => item), next: rest.length > limit ? (page.at(-1)?.key ?? null) : null }
}
