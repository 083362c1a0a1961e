import type { ToolView } from '../../daemon/api/schemas/tools.ts'
import { defineCommand } from '../command.ts'
import { toTable } from '../terminal/table.ts'

export const tools = defineCommand({
  name: 'tools',
  summary: 'the tools of every package, or of one',
  usage: ['tools [<id>]'],
  arity: [0, 1],
  completes: 'package',
  options: {},
  async run({ args: [only], client, signal }) {
    const query = only === undefined ? '' : `&package=${encodeURIComponent(only)}`
    const found = await client.list<ToolView>(`/v1/tools?limit=1000${query}`, { signal })
    const rows = found.map((tool) => [`${tool.package}/${tool.name}`, parameters(tool), firstSentence(tool.description ?? '')])
    return { json: found, text: toTable(['TOOL', 'ARGUMENTS', 'DESCRIPTION'], rows, 'No tools: start a package first.') }
  },
})

/** Names of a tool's arguments, optional ones with a question mark. */
function parameters({ inputSchema }: ToolView): string {
  const properties = inputSchema.properties
  const required = new Set(Array.isArray(inputSchema.required) ? inputSchema.required : [])
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return names.length === 0 ? '-' : names.map((name) => (required.has(name) ? name : `${name}?`)).join(' ')
}

function firstSentence(text: string): string {
  const first = text.trim().split(/(?<=\.)\s|\n/)[0] ?? ''
  return first.length > 80 ? `${first.slice(0, 79)}…` : first
}
