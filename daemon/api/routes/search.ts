import type { Api, ApiDeps } from '../api.ts'
import { SearchHit, SearchQuery } from '../schemas/info.ts'
import { Type } from '../schemas/type.ts'
import { toClientSignal } from '../streamEvents.ts'

export function registerSearch(app: Api, { search, closing }: ApiDeps): void {
  const schema = {
    summary: 'Packages in the configured registries',
    tags: ['packages'],
    querystring: SearchQuery,
    response: { 200: Type.Array(SearchHit) },
  }
  app.get('/v1/search', { schema }, async ({ query }, reply) => [
    ...(await search(query.q ?? '', query.limit ?? 20, toClientSignal(reply, closing))),
  ])
}
