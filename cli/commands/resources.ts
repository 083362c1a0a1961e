import type { ReadResourceResult, ResourceTemplateView, ResourceView } from '../../daemon/api/schemas/tools.ts'
import { PkgdError } from '../../daemon/core/errors.ts'
import { defineCommand } from '../command.ts'
import { toTable } from '../terminal/table.ts'

export const resources = defineCommand({
  name: 'resources',
  summary: 'the resources of every package; with an id and a URI, reads one',
  usage: ['resources [<id>] [--templates]', 'resources <id> <uri>'],
  arity: [0, 2],
  completes: 'package',
  options: { templates: { type: 'boolean', description: 'list the URI templates instead' } },
  async run({ args: [id, uri], options, client, signal }) {
    if (id !== undefined && uri !== undefined) {
      if (options.templates) throw new PkgdError('USAGE', '--templates lists; it reads nothing')
      const read = await client.post<ReadResourceResult>('/v1/resources/read', { package: id, uri }, { signal })
      return {
        json: read,
        text: read.contents.map(({ text, blob }) => text ?? `[${blob?.length ?? 0} characters of base64; --json shows them]`).join('\n'),
      }
    }
    const query = id === undefined ? '' : `&package=${encodeURIComponent(id)}`
    if (options.templates) {
      const found = await client.list<ResourceTemplateView>(`/v1/resources/templates?limit=1000${query}`, { signal })
      const rows = found.map((entry) => [entry.package, entry.uriTemplate, entry.name, entry.mimeType ?? '-'])
      return { json: found, text: toTable(['PACKAGE', 'TEMPLATE', 'NAME', 'TYPE'], rows, 'No resource templates.') }
    }
    const found = await client.list<ResourceView>(`/v1/resources?limit=1000${query}`, { signal })
    const rows = found.map((entry) => [entry.package, entry.uri, entry.name, entry.mimeType ?? '-'])
    return { json: found, text: toTable(['PACKAGE', 'URI', 'NAME', 'TYPE'], rows, 'No resources.') }
  },
})
