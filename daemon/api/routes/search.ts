import { PkgdError } from '../../core/errors.ts'
import type { Api, ApiDeps } from '../api.ts'
import { decodeCursor, nextLink } from '../paginate.ts'
import { SearchHit, SearchQuery } from '../schemas/info.ts'
import { Type } from '../schemas/type.ts'
import { toClientSignal } from '../streamEvents.ts'
import { setWarnings, warningsHeader } from '../warnings.ts'

/** Best first: so the cursor of this list is a place in it. */
function toStart(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const start = decodeCursor(cursor)
  if (!/^\d{1,6}$/.test(start)) throw new PkgdError('USAGE', `The cursor "${cursor}" was not given by this list`)
  return Number(start)
}

export function registerSearch(app: Api, { search, closing }: ApiDeps): void {
  const schema = {
    operationId: 'searchPackages',
    summary: 'Packages in the configured registries, best first',
    description: `A registry that could not be searched hides nothing of the others: it is named in the header ${warningsHeader}, a JSON array of texts.`,
    tags: ['packages'],
    querystring: SearchQuery,
    response: { 200: Type.Array(SearchHit) },
  }
  app.get('/v1/search', { schema }, async ({ query, url }, reply) => {
    const { limit = 20 } = query
    const start = toStart(query.cursor)
    const { results, failures } = await search(query.q ?? '', toClientSignal(reply, closing))
    setWarnings(
      reply,
      failures.map(({ registry, message }) => `${registry} could not be searched: ${message}`),
    )
    if (results.length > start + limit) reply.header('link', nextLink(url, String(start + limit)))
    return results.slice(start, start + limit)
  })
}
