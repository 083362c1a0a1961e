import { createInterface } from 'node:readline'
import type { FakeProgram } from '../../sandbox/fake/fakeProgram.ts'

interface Request {
  readonly id?: string
  readonly method: string
  readonly params?: { readonly name?: string; readonly protocolVersion?: string }
}

/**
 * An MCP server that tells its secret `KEY` wherever it can. Its first argument says when: `serve` (in the answers of its tools), `die`, `refuse`,
 * `garbage`, `odd-version` (before it is ready). Its tool `shapeless` answers what is no result of a call, `slow` never;
 * at `exit` it ends.
 */
export const tellingServer: FakeProgram = async ({ argv, env, stdio, stderr, killed }) => {
  const [, when = 'serve'] = argv
  const secret = String(env.KEY)
  const write = (message: object | string) =>
    stdio.write(`${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  stderr(`the key is ${secret}`)
  if (when === 'die') return 3
  if (when === 'garbage') for (let n = 0; n < 1_000; n++) write(`${'.'.repeat(190)}${secret}`)

  const answer = ({ id, method, params }: Request): void => {
    const error = { code: -32000, message: `cannot log in with ${secret}`, data: { tried: [secret] } }
    switch (method) {
      case 'initialize':
        if (when === 'refuse') return void write({ id, error })
        return void write({
          id,
          result: {
            protocolVersion: when === 'odd-version' ? secret : params?.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'telling', version: '1' },
          },
        })
      case 'tools/list':
        write({ method: `notifications/${secret}`, params: { level: secret } })
        return void write({
          id,
          result: { tools: ['fail', 'shapeless', 'slow', 'exit'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
        })
      case 'tools/call':
        if (params?.name === 'shapeless') return void write({ id, result: { foo: 1 } })
        if (params?.name !== 'slow') return void write({ id, error })
        return
      default:
        return void write({ id, error })
    }
  }
  for await (const line of createInterface({ input: stdio })) {
    if (killed.aborted || line.trim() === '') continue
    const request = JSON.parse(line) as Request
    if (request.params?.name === 'exit') return 1
    if (request.id !== undefined) answer(request)
  }
  return 1
}
