import { createInterface } from 'node:readline'
import { duplexPair } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { createRedactor } from '../../../../daemon/core/redactor.ts'
import { shakeHands } from '../../../../daemon/mcp/handshake.ts'
import type { McpEra } from '../../../../daemon/mcp/protocol.ts'
import { createFrameBudget } from '../../../../daemon/rpc/frameBudget.ts'
import { createRpcPeer } from '../../../../daemon/rpc/rpcPeer.ts'
import { createManualClock, createMemoryLog } from '../manual.ts'

interface Request {
  readonly id: string
  readonly method: string
  readonly params: { protocolVersion?: string; _meta?: Record<string, unknown> }
}
type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } }

/** Shakes hands with a server that answers each request as told; resolves with the session or error, and what was asked. */
async function shake(answer: (request: Request) => Answer, era?: McpEra) {
  const [channel, far] = duplexPair()
  const asked: string[] = []
  createInterface({ input: far }).on('line', (line) => {
    const request = JSON.parse(line) as Request
    asked.push([request.method, request.params?.protocolVersion].filter(Boolean).join(' '))
    if (request.id !== undefined) far.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answer(request) })}\n`)
  })
  const peer = createRpcPeer({
    channel,
    name: 'demo',
    idPrefix: 'test-',
    maxFrameBytes: 1 << 20,
    budget: createFrameBudget(1 << 20),
    adopted: false,
    cancelMethod: 'notifications/cancelled',
    redactor: createRedactor([]),
    clock: createManualClock(),
    log: createMemoryLog(),
  })
  onTestFinished(() => peer.close(new Error('the test is over')))
  const options = { peer, name: 'demo', clientInfo: { name: 'pkgd', version: '1' }, era, signal: new AbortController().signal }
  const outcome = await shakeHands(options).catch((error: unknown) => error)
  await new Promise(setImmediate)
  return { outcome, asked }
}

const initialized = (protocolVersion: unknown) => ({
  result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
})
const discovered = { result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, instructions: 'hello' } }
const refusal = (code: number, data?: unknown) => ({ error: { code, message: 'no', ...(data === undefined ? {} : { data }) } })
const unsupported = (...supported: string[]) => refusal(-32022, { supported })

type Case = [name: string, answer: (request: Request) => Answer, era: McpEra | undefined, outcome: object, asked: string[]]
const cases: Case[] = [
  [
    'the newest legacy revision',
    () => initialized('2025-11-25'),
    undefined,
    { era: 'legacy', version: '2025-11-25', serverInfo: { name: 's' } },
    ['initialize 2025-11-25', 'notifications/initialized'],
  ],
  [
    'a server that negotiates down',
    () => initialized('2024-11-05'),
    undefined,
    { era: 'legacy', version: '2024-11-05' },
    ['initialize 2025-11-25', 'notifications/initialized'],
  ],
  [
    'a server that names what it knows instead',
    ({ params }) => (params.protocolVersion === '2025-03-26' ? initialized('2025-03-26') : refusal(-32602, { supported: ['2025-03-26'] })),
    undefined,
    { era: 'legacy', version: '2025-03-26' },
    ['initialize 2025-11-25', 'initialize 2025-03-26', 'notifications/initialized'],
  ],
  [
    'a server of the modern era alone',
    ({ method }) => (method === 'initialize' ? unsupported('2026-07-28') : discovered),
    undefined,
    { era: 'modern', version: '2026-07-28', instructions: 'hello', serverInfo: null },
    ['initialize 2025-11-25', 'server/discover'],
  ],
  [
    'one that does not know initialize',
    ({ method }) => (method === 'initialize' ? refusal(-32601) : discovered),
    undefined,
    { era: 'modern' },
    ['initialize 2025-11-25', 'server/discover'],
  ],
  ['the modern era, known from before', () => discovered, 'modern', { era: 'modern' }, ['server/discover']],
  [
    'an era known from before that is no longer right',
    ({ method }) => (method === 'initialize' ? initialized('2025-06-18') : refusal(-32601)),
    'modern',
    { era: 'legacy', version: '2025-06-18' },
    ['server/discover', 'initialize 2025-11-25', 'notifications/initialized'],
  ],
  [
    'a revision from nowhere',
    () => initialized('1999-01-01'),
    undefined,
    { code: 'PROTOCOL_ERROR', message: 'demo speaks MCP "1999-01-01", a revision that pkgd does not know' },
    ['initialize 2025-11-25'],
  ],
  [
    'modern revisions from the future alone',
    ({ method }) =>
      method === 'initialize' ? unsupported('2030-01-01') : { result: { supportedVersions: ['2030-01-01'], capabilities: {} } },
    undefined,
    { code: 'PROTOCOL_ERROR', message: expect.stringContaining('2030-01-01') },
    ['initialize 2025-11-25', 'server/discover'],
  ],
  [
    'no capabilities',
    () => ({ result: { protocolVersion: '2025-11-25' } }),
    undefined,
    { code: 'PROTOCOL_ERROR', message: expect.stringContaining('capabilities') },
    ['initialize 2025-11-25'],
  ],
  [
    'a refusal of both eras',
    ({ method }) => refusal(method === 'initialize' ? -32000 : -32601),
    undefined,
    { code: 'PROTOCOL_ERROR', message: expect.stringMatching(/both eras: .*initialize.*-32000.*server\/discover/) },
    ['initialize 2025-11-25', 'server/discover'],
  ],
]

test.each(cases)('%s', async (_name, answer, era, expected, requests) => {
  const { outcome, asked } = await shake(answer, era)
  expect(outcome).toMatchObject(expected)
  expect(asked).toEqual(requests)
})

test('each request of the modern era carries who asks, and how', async () => {
  let meta: unknown
  await shake((request) => {
    meta = request.params._meta
    return discovered
  }, 'modern')
  expect(meta).toEqual({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'pkgd', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  })
})
