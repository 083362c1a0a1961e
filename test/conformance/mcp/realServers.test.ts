import { describe, expect, test, vi } from 'vitest'
import { serverCommand } from '../../fixtures/servers/startProgram.ts'
import { factsOf, harness, signal, textOf } from './testKit.ts'

const legacy = { era: 'legacy', version: '2025-11-25' }
const modern = { era: 'modern', version: '2026-07-28' }
const servers: [string, string[], Record<string, string>][] = [
  ['SDK 1', serverCommand('sdk1'), legacy],
  ['SDK 2, both eras offered', serverCommand('sdk2'), legacy],
  ['SDK 2, modern era alone', serverCommand('sdk2', '--modern-only'), modern],
  ['bare wire, legacy', serverCommand('plain'), legacy],
  ['bare wire, 2024-11-05', serverCommand('plain', '--version', '2024-11-05'), { era: 'legacy', version: '2024-11-05' }],
  ['bare wire, modern', serverCommand('plain', '--era', 'modern'), modern],
]

describe.each(servers)('a server on %s', (_name, command, agreed) => {
  test('agrees, is listed, and answers calls; its session is stored before the first of them', async () => {
    const all = harness()
    const { session, saved, program } = await all.start('demo', command)
    expect(saved()).toMatchObject(agreed)
    expect(all.mcp.service.tools().map((tool) => tool.name)).toContain('echo')
    expect(textOf(await all.mcp.service.callTool('demo', 'echo', { message: 'hi ☃' }, { signal }))).toBe('hi ☃')
    await session.probe(signal)
    expect((await factsOf(all)).pid).toBe(program.pid)
    expect(session.pending).toBe(0)
  })

  test('a tool that appears is announced, listed and callable', async () => {
    const all = harness()
    await all.start('demo', command)
    await all.mcp.service.callTool('demo', 'grow', {}, { signal })
    await vi.waitFor(() => expect(all.mcp.service.tools('demo').map((tool) => tool.name)).toContain('grown'), 5_000)
    expect(all.events.filter(({ type }) => type === 'tools.changed').at(-1)).toMatchObject({
      subject: 'demo',
      data: { count: all.mcp.service.tools('demo').length },
    })
  })

  test('a caller that gives up cancels at the server', async () => {
    const all = harness()
    await all.start('demo', command)
    const abort = new AbortController()
    const call = all.mcp.service.callTool('demo', 'slow', { ms: 60_000 }, { signal: abort.signal })
    await vi.waitFor(() => expect(all.mcp.live.get('demo')?.connection.underWay).toBe(1))
    await factsOf(all)
    abort.abort()
    await expect(call).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
    await vi.waitFor(async () => expect((await factsOf(all)).cancelled).toHaveLength(1), 5_000)
  })

  test('a call that takes too long is cancelled', async () => {
    const all = harness()
    await all.start('demo', command)
    const call = all.mcp.service.callTool('demo', 'slow', { ms: 60_000 }, { signal, timeoutMs: 200 })
    await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT' })
    await vi.waitFor(async () => expect((await factsOf(all)).cancelled).toHaveLength(1), 5_000)
  })

  test('a crash fails the calls under way at once', async () => {
    const all = harness()
    const { session } = await all.start('demo', command)
    const slow = all.mcp.service.callTool('demo', 'slow', { ms: 60_000 }, { signal })
    const crash = all.mcp.service.callTool('demo', 'crash', {}, { signal })
    await expect(slow).rejects.toMatchObject({ code: 'PACKAGE_CRASHED' })
    await expect(crash).rejects.toMatchObject({ code: 'PACKAGE_CRASHED' })
    expect(await session.closed).toMatchObject({ code: 'PACKAGE_CRASHED' })
    await expect(all.mcp.service.callTool('demo', 'echo', { message: '' }, { signal })).rejects.toMatchObject({ code: 'NOT_RUNNING' })
    expect(all.mcp.service.tools('demo').map((tool) => tool.name)).toContain('echo')
  })

  test('the era is learnt once: the next start goes the right way at once', async () => {
    const all = harness()
    await all.start('demo', command)
    const again = await all.start('demo', command)
    expect(again.saved()).toMatchObject(agreed)
    expect(textOf(await all.mcp.service.callTool('demo', 'echo', { message: 'again' }, { signal }))).toBe('again')
  })
})
