import { describe, expect, test, vi } from 'vitest'
import { serverCommand, startProgram } from '../../fixtures/servers/startProgram.ts'
import { factsOf, harness, signal, textOf } from './testKit.ts'

describe('bad servers', () => {
  test.each([
    ['hangs', ['--hang'], /wrote nothing to stdout/],
    ['prints garbage and hangs', ['--hang', '--garbage', '20'], /20 lines .* the first: line 0 of a server/],
  ])('one that %s in the handshake is HANDSHAKE_TIMEOUT', async (_name, args, hint) => {
    const all = harness()
    await using program = await startProgram(serverCommand('plain', ...args))
    await expect(all.connect('demo', program, { signal: AbortSignal.timeout(700) })).rejects.toMatchObject({
      code: 'HANDSHAKE_TIMEOUT',
      hint: expect.stringMatching(hint),
    })
  })

  test('one that prints garbage around every message works', async () => {
    const all = harness()
    await all.start('demo', serverCommand('plain', '--chatter', '--garbage', '500'))
    expect(textOf(await all.mcp.service.callTool('demo', 'echo', { message: 'heard' }, { signal }))).toBe('heard')
    expect(all.mcp.live.get('demo')?.connection.peer.garbage.lines).toBeGreaterThan(500)
  })

  test('one that only ever prints garbage is PROTOCOL_ERROR, without waiting for the deadline', async () => {
    const all = harness()
    await expect(all.start('demo', serverCommand('plain', '--hang', '--garbage', '5000'))).rejects.toMatchObject({ code: 'PROTOCOL_ERROR' })
  })

  test('one that exits at once ends the handshake at once', async () => {
    const all = harness()
    await expect(all.start('demo', serverCommand('plain', '--exit', '4'))).rejects.toMatchObject({ code: 'PACKAGE_CRASHED' })
  })

  test('one that exits on any first request but initialize is started once and works', async () => {
    const all = harness()
    await all.start('demo', serverCommand('plain', '--fragile'))
    expect((await factsOf(all)).initialized).toBe(1)
  })

  test('one that is no MCP server at all: cat', async () => {
    const all = harness()
    await expect(all.start('demo', ['cat'])).rejects.toMatchObject({ code: 'PROTOCOL_ERROR' })
  })

  test('one that lists slowly: a call waits for the first list', async () => {
    const all = harness()
    const starting = all.start('demo', serverCommand('plain', '--slow-list', '300'))
    await starting
    expect(textOf(await all.mcp.service.callTool('demo', 'echo', { message: 'late' }, { signal }))).toBe('late')
  })

  test('one that knows no ping is alive all the same', async () => {
    const all = harness()
    const { session } = await all.start('demo', serverCommand('plain', '--no-ping'))
    await session.probe(signal)
  })

  test('one that is stuck in a call is not healthy, and is again afterwards', async () => {
    const all = harness()
    const { session } = await all.start('demo', serverCommand('plain'))
    const underWay = () => all.mcp.live.get('demo')?.connection.underWay
    const stuck = all.mcp.service.callTool('demo', 'block', { ms: 1_500 }, { signal })
    await vi.waitFor(() => expect(underWay()).toBe(1))
    await expect(session.probe(AbortSignal.timeout(300))).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
    await stuck
    await session.probe(signal)
  })

  test('a busy one that answers no ping but makes progress is healthy', async () => {
    const all = harness()
    const { session } = await all.start('demo', serverCommand('plain', '--ping-never'))
    const busy = all.mcp.service.callTool('demo', 'slow', { ms: 1_000, progress: 20 }, { signal })
    await vi.waitFor(() => expect(all.mcp.live.get('demo')?.connection.underWay).toBe(1))
    await session.probe(AbortSignal.timeout(300))
    await busy
    await expect(session.probe(AbortSignal.timeout(100))).rejects.toMatchObject({ code: 'OPERATION_CANCELLED' })
  })
})
