import { onTestFinished } from 'vitest'
import { createMcpHarness, type McpHarness } from '../../fixtures/servers/mcpHarness.ts'

/** A harness for one test, gone with it. */
export function harness(...args: Parameters<typeof createMcpHarness>): McpHarness {
  const made = createMcpHarness(...args)
  onTestFinished(() => made[Symbol.asyncDispose]())
  return made
}

/** For calls that are not given up. */
export const signal = AbortSignal.timeout(170_000)

export const textOf = ({ content }: { content: { type: string }[] }): string => {
  const [first] = content
  return first && 'text' in first ? String(first.text) : ''
}

/** What the server says of itself. */
export const factsOf = async ({ mcp }: McpHarness, id = 'demo') =>
  JSON.parse(textOf(await mcp.service.callTool(id, 'facts', {}, { signal })))
