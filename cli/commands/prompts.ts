import type { GetPromptResult, PromptView } from '../../daemon/api/schemas/tools.ts'
import { defineCommand } from '../command.ts'
import { toEnv } from '../installBody.ts'
import { toTable } from '../terminal/table.ts'

export const prompts = defineCommand({
  name: 'prompts',
  summary: 'the prompts of every package; with an id and a name, gets one',
  usage: ['prompts [<id>]', 'prompts <id> <name> [--arg name=value]...'],
  arity: [0, 2],
  completes: 'package',
  options: { arg: { type: 'string', multiple: true, value: 'name=value', description: "one of the prompt's arguments; may be repeated" } },
  async run({ args: [id, name], options, client, signal }) {
    if (id !== undefined && name !== undefined) {
      const body = { package: id, name, arguments: toEnv(options.arg ?? []) }
      const prompt = await client.post<GetPromptResult>('/v1/prompts/get', body, { signal })
      return { json: prompt, text: prompt.messages.map(({ role, content }) => `${role}: ${toText(content)}`).join('\n') }
    }
    const query = id === undefined ? '' : `&package=${encodeURIComponent(id)}`
    const found = await client.list<PromptView>(`/v1/prompts?limit=1000${query}`, { signal })
    const rows = found.map((entry) => [entry.package, entry.name, toArguments(entry), entry.description ?? ''])
    return { json: found, text: toTable(['PACKAGE', 'PROMPT', 'ARGUMENTS', 'DESCRIPTION'], rows, 'No prompts.') }
  },
})

const toArguments = (prompt: PromptView) =>
  (prompt.arguments ?? []).map(({ name, required }) => (required ? name : `${name}?`)).join(' ') || '-'

function toText(content: unknown): string {
  const { type, text } = content as { type?: string; text?: string }
  return type === 'text' && text !== undefined ? text : JSON.stringify(content)
}
