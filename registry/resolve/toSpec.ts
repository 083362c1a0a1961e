import { assertNever } from '../../daemon/core/errors.ts'
import type { Source } from './resolution.ts'

/** The spec that `parseSpec` reads back as this source: for messages, search results and records. */
export function toSpec(source: Source): string {
  switch (source.kind) {
    case 'folder':
    case 'archive':
      return source.path
    case 'npm':
      return source.range === 'latest' ? `npm:${source.name}` : `npm:${source.name}@${source.range}`
    case 'pypi':
      return source.range === '' ? `pypi:${source.name}` : `pypi:${source.name}@${source.range}`
    case 'git':
      return `git+${source.url}${source.ref === null ? '' : `#${source.ref}`}`
    case 'https':
      return source.integrity === null ? source.url : `${source.url}#${source.integrity}`
    case 'registry':
      return source.range === '*' ? source.id : `${source.id}@${source.range}`
    default:
      return assertNever(source)
  }
}
