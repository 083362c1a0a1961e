import type { SearchHit } from '../../daemon/api/schemas/info.ts'
import { defineCommand } from '../command.ts'
import { toTable } from '../terminal/table.ts'

export const search = defineCommand({
  name: 'search',
  summary: 'find packages in the configured registries',
  usage: ['search [<words>...]'],
  arity: [0, 16],
  options: {},
  async run({ args, client, signal }) {
    const hits = await client.get<SearchHit[]>(`/v1/search?q=${encodeURIComponent(args.join(' '))}`, { signal })
    const rows = hits.map((hit) => [hit.id, hit.version, hit.type, hit.spec, shorten(hit.description)])
    return { json: hits, text: toTable(['ID', 'VERSION', 'TYPE', 'INSTALL WITH', 'DESCRIPTION'], rows, 'Nothing was found.') }
  },
})

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 59)}…` : text)
