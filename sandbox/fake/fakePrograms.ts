import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { FakeProgram, ProgramContext } from './fakeProgram.ts'

/** Waits until it is killed. */
const forever = ({ killed }: ProgramContext) =>
  new Promise<number>((_, reject) => killed.addEventListener('abort', () => reject(killed.reason)))

const write = async ({ stdio }: ProgramContext, line: string) => {
  if (!stdio.write(`${line}\n`)) await once(stdio, 'drain')
}

/** Answers each line with itself. The lines `!exit N`, `!throw`, `!hang` and `!grow BYTES` make it exit, throw, stop answering and take memory. */
export const echoLines: FakeProgram = async (context) => {
  for await (const line of createInterface({ input: context.stdio, crlfDelay: Number.POSITIVE_INFINITY })) {
    const [cue, value] = line.split(' ')
    if (cue === '!exit') return Number(value)
    if (cue === '!throw') throw new Error('thrown on cue')
    if (cue === '!hang') return forever(context)
    if (cue === '!grow') context.allocate(Number(value))
    await write(context, line)
  }
  return 0
}

/** Ends at once with the code that is its first argument, its other arguments on stderr. */
export const exitWith: FakeProgram = async ({ argv, stderr }) => {
  if (argv.length > 2) stderr(argv.slice(2).join(' '))
  return Number(argv[1] ?? 0)
}

/** Reads nothing, says nothing, ends on SIGTERM. */
export const hang: FakeProgram = forever

/** As `hang`, deaf to SIGTERM. */
export const ignoreTerm: FakeProgram = (context) => {
  context.onTerm(() => context.stderr('SIGTERM ignored'))
  return forever(context)
}

/** Takes memory until it is killed for it. */
export const eatMemory: FakeProgram = async ({ allocate, killed, sleep }) => {
  while (!killed.aborted) {
    allocate(16 * 1024 * 1024)
    await sleep(1)
  }
  return 0
}

/** Writes lines that are no protocol's. */
export const printGarbage: FakeProgram = async (context) => {
  await write(context, 'Starting up…')
  await write(context, '{"jsonrpc": "2.0", "id":')
  return forever(context)
}

/** The methods of the MCP server `mcpEcho`, by name. */
const mcpMethods: Readonly<Record<string, (params: Record<string, unknown>) => Record<string, unknown>>> = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'fake-echo', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [{ name: 'echo', inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] } }],
  }),
  'tools/call': (params) => {
    const given = params.arguments as { readonly message?: unknown } | undefined
    return { content: [{ type: 'text', text: String(given?.message ?? '') }] }
  },
}

/** An MCP server over stdio with one tool, `echo`. */
export const mcpEcho: FakeProgram = async (context) => {
  for await (const line of createInterface({ input: context.stdio, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue
    const request = JSON.parse(line) as { readonly id?: unknown; readonly method?: string; readonly params?: Record<string, unknown> }
    if (request.id === undefined || request.method === undefined) continue
    const method = Object.hasOwn(mcpMethods, request.method) ? mcpMethods[request.method] : undefined
    const answer = method
      ? { result: method(request.params ?? {}) }
      : { error: { code: -32601, message: `Method not found: ${request.method}` } }
    await write(context, JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answer }))
  }
  return 0
}
