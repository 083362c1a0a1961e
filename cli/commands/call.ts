import type { CallToolResult } from '../../daemon/api/schemas/tools.ts'
import { PkgdError } from '../../daemon/core/errors.ts'
import { defineCommand } from '../command.ts'

export const call = defineCommand({
  name: 'call',
  summary: 'call a tool',
  usage: ["call <id>/<tool> ['<json>'] [--timeout <seconds>]"],
  arity: [1, 2],
  completes: 'tool',
  options: { timeout: { type: 'string', value: '<seconds>', description: 'cancel the call after so long' } },
  async run({ args: [name = '', text = '{}'], options, client, signal }) {
    const cut = name.indexOf('/')
    if (cut < 1 || cut === name.length - 1) throw new PkgdError('USAGE', `${name}: expected <id>/<tool>`, { hint: 'pkg tools lists them' })
    const result = await client.post<CallToolResult>(
      '/v1/tools/call',
      { package: name.slice(0, cut), tool: name.slice(cut + 1), arguments: parseArgumentsObject(text), ...toTimeout(options.timeout) },
      { signal },
    )
    return { json: result, text: result.content.map(toText).join('\n'), exit: result.isError ? 1 : 0 }
  },
})

function parseArgumentsObject(text: string): Record<string, unknown> {
  const hint = { hint: `pkg call <id>/<tool> '{"name": "value"}'` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new PkgdError('USAGE', `The arguments are not JSON: ${error instanceof Error ? error.message : String(error)}`, hint)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new PkgdError('USAGE', 'The arguments must be a JSON object', hint)
  return value as Record<string, unknown>
}

function toTimeout(text: string | undefined): { timeoutMs?: number } {
  if (text === undefined) return {}
  const seconds = Number(text)
  if (!(seconds > 0)) throw new PkgdError('USAGE', `--timeout ${text}: expected a number of seconds`)
  return { timeoutMs: Math.round(seconds * 1000) }
}

/** A content block for people: text as it is, anything else by its kind and size. */
function toText(block: CallToolResult['content'][number]): string {
  if (block.text !== undefined) return block.text
  const { type, data, mimeType, uri } = block as { type: string; data?: string; mimeType?: string; uri?: string }
  if (data !== undefined) return `[${type} ${mimeType ?? ''}, ${Math.floor((data.length * 3) / 4)} bytes; --json shows it]`
  return uri === undefined ? JSON.stringify(block) : `[${type} ${uri}]`
}
