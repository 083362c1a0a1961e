import { describe, expect, test, vi } from 'vitest'
import type { CatalogBook } from '../../../../daemon/mcp/catalogBook.ts'
import { createListFollower } from '../../../../daemon/mcp/followLists.ts'
import type { McpConnection } from '../../../../daemon/mcp/mcpConnection.ts'
import type { McpSession } from '../../../../daemon/mcp/mcpSession.ts'
import type { Frame, RpcResult } from '../../../../daemon/rpc/rpc.ts'
import { createManualClock, createMemoryLog } from '../manual.ts'

/** A follower of a server whose `tools/list` is answered by hand. */
function follow(capabilities: Record<string, object> = { tools: {} }) {
  const asked: {
    method: string
    params: Record<string, unknown> | undefined
    answer: (result: Record<string, unknown>, bytes?: number) => void
  }[] = []
  const request: McpConnection['request'] = (method, params) =>
    new Promise<Frame<RpcResult>>((resolve) => {
      const answer = (result: Record<string, unknown>, bytes = 0) =>
        resolve({ message: { jsonrpc: '2.0', id: 1, result }, bytes: Buffer.alloc(bytes) })
      asked.push({ method, params, answer })
    })
  const put = vi.fn<CatalogBook['put']>()
  const log = createMemoryLog()
  const clock = createManualClock()
  const connection = { record: { id: 'demo', tree: 't' }, session: { ...session, capabilities }, request }
  const follower = createListFollower({ connection, book: { put, get: () => undefined, forget() {} }, timeoutMs: () => 1_000, clock, log })
  return { follower, asked, put, log, clock }
}

const session: McpSession = {
  era: 'legacy',
  version: '2025-11-25',
  capabilities: {},
  serverInfo: null,
  instructions: null,
  subscriptions: [],
  listenId: null,
}
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
const tick = () => new Promise(setImmediate)

describe('following', () => {
  test('however often a change is announced during a listing, it is listed once more', async () => {
    const { follower, asked, put, clock } = follow()
    for (let at = 0; at < 5; at++) expect(follower.notified('notifications/tools/list_changed')).toBe(true)
    expect(asked).toHaveLength(1)
    asked[0]?.answer({ tools: [tool('a')] })
    await tick()
    expect(asked).toHaveLength(1)
    clock.advance(200)
    await tick()
    expect(asked).toHaveLength(2)
    asked[1]?.answer({ tools: [tool('a'), tool('b')] })
    await follower.settled()
    expect(asked).toHaveLength(2)
    expect(put).toHaveBeenLastCalledWith(expect.anything(), expect.anything(), { tools: [tool('a'), tool('b')] })
  })

  test('a server that announces a change at every listing is listed now and then, not all the time', async () => {
    const { follower, asked, clock } = follow()
    for (let listing = 1; listing <= 3; listing++) {
      follower.notified('notifications/tools/list_changed')
      await tick()
      expect(asked).toHaveLength(listing)
      asked[listing - 1]?.answer({ tools: [tool('a')] })
      await follower.settled()
      follower.notified('notifications/tools/list_changed')
      await tick()
      expect(asked).toHaveLength(listing)
      clock.advance(200)
    }
  })

  test('a list that never stops growing is cut off', async () => {
    const { follower, asked, put, log } = follow()
    follower.notified('notifications/tools/list_changed')
    for (let page = 0; page < 4; page++) {
      asked[page]?.answer({ tools: [tool('a')], nextCursor: String(page) }, 10 << 20)
      await tick()
    }
    await follower.settled()
    expect(put).not.toHaveBeenCalled()
    expect(log.lines.join()).toContain('more than 33554432 bytes')
  })

  test('other notifications are not about lists', () => {
    expect(follow().follower.notified('notifications/message')).toBe(false)
  })

  test('what is not declared is not asked for', async () => {
    const { follower, asked, put } = follow({})
    await follower.refreshAll()
    expect(asked).toEqual([])
    expect(put).toHaveBeenCalledTimes(3)
  })
})

describe('pages', () => {
  test.each([
    ['the same cursor again and again', { tools: [], nextCursor: 'x' }, 'does not end the pages'],
    ['no list', { tolls: [] }, 'something else than a list'],
    ['a tool without a schema', { tools: [{ name: 'a' }] }, 'something else than a list'],
  ])('%s is said, and keeps the former list', async (_name, result, said) => {
    const { follower, asked, put, log } = follow()
    follower.notified('notifications/tools/list_changed')
    for (let at = 0; at < 3; at++) {
      asked[at]?.answer(result)
      await tick()
    }
    await follower.settled()
    expect(put).not.toHaveBeenCalled()
    expect(log.lines.join()).toContain(said)
  })
})
