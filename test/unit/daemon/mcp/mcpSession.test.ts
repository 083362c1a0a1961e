import { expect, test } from 'vitest'
import { parseCatalog } from '../../../../daemon/mcp/catalog.ts'
import { type McpSession, parseSession } from '../../../../daemon/mcp/mcpSession.ts'

const session: McpSession = {
  era: 'modern',
  version: '2026-07-28',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'demo', version: '1.0.0' },
  instructions: 'Be kind.',
  subscriptions: ['demo://one'],
  listenId: 'life-4',
}

test('a stored session is read back as it was', () => {
  expect(parseSession(JSON.parse(JSON.stringify(session)))).toEqual(session)
})

test.each([
  ['nothing', undefined],
  ['null', null],
  ['another form', { version: 3 }],
  ['an unknown era', { ...session, era: 'future' }],
  ['a revision of the other era', { ...session, version: '2025-11-25' }],
  ['no capabilities', { ...session, capabilities: null }],
])('%s is no session to go on with', (_name, stored) => {
  expect(parseSession(stored)).toBeUndefined()
})

test.each([
  ['nothing', undefined],
  ['a list that is none', { era: 'legacy', tools: {}, resources: [], resourceTemplates: [], prompts: [] }],
  ['an unknown era', { era: 'x', tools: [], resources: [], resourceTemplates: [], prompts: [] }],
])('%s is no catalog', (_name, stored) => {
  expect(parseCatalog(stored)).toBeUndefined()
})
