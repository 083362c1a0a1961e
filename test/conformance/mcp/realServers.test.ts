import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMcpHarness, type McpHarness } from '../../fixtures/servers/mcpHarness.ts'
import { serverCommand, startProgram } from '../../fixtures/servers/startProgram.ts'

function harness(...args: Parameters<typeof createMcpHarness>): McpHarness {
  const made = createMcpHarness(...args)
  onTestFinished(() => made[Symbol.asyncDispose]())
  return made
}

const signal = AbortSignal.timeout(60_000)
const textOf = ({ content }: { content: { type: string }[] }): string => {
  const [first] = content
  return first && 'text' in first ? String(first.text) : ''
}
const factsOf = async ({ mcp }: McpHarness, id = 'demo') => JSON.parse(textOf(await mcp.service.callTool(id, 'facts', {}, { signal })))

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

describe('the rest of MCP', () => {
  test.each([
    ['SDK 2, legacy', serverCommand('sdk2')],
    ['SDK 2, modern', serverCommand('sdk2', '--modern-only')],
  ])('resources and prompts of %s', async (_name, command) => {
    const { mcp, ...all } = harness()
    await all.start('demo', command)
    expect(mcp.service.resources('demo')).toMatchObject([{ uri: 'sdk2://readme', package: 'demo' }])
    expect(await mcp.service.readResource('demo', 'sdk2://readme', { signal })).toMatchObject({ contents: [{ text: 'read me' }] })
    await expect(mcp.service.readResource('demo', 'sdk2://reamde', { signal })).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
      hint: 'did you mean sdk2://readme?',
    })
    expect(mcp.service.prompts('demo')).toMatchObject([{ name: 'greet', package: 'demo' }])
    expect(await mcp.service.getPrompt('demo', 'greet', { who: 'Ada' }, { signal })).toMatchObject({
      messages: [{ content: { text: 'Greet Ada' } }],
    })
    await expect(mcp.service.getPrompt('demo', 'gret', {}, { signal })).rejects.toMatchObject({ code: 'PROMPT_NOT_FOUND' })
  })

  test('templates and completions', async () => {
    const { mcp, ...all } = harness()
    await all.start('demo', serverCommand('plain'))
    expect(mcp.service.resourceTemplates('demo')).toMatchObject([{ uriTemplate: 'plain://item/{id}' }])
    const params = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'Al' } }
    expect(await mcp.service.complete('demo', params, { signal })).toEqual({ completion: { values: ['Alan'] } })
  })

  test.each([
    ['SDK 1', serverCommand('sdk1', '--pages', '2')],
    ['bare wire', serverCommand('plain', '--pages', '3', '--tools', '50')],
  ])('all pages of %s are listed', async (_name, command) => {
    const { mcp, ...all } = harness()
    await all.start('demo', command)
    const names = mcp.service.tools('demo').map((tool) => tool.name)
    expect(names).toContain('crash')
    expect(new Set(names).size).toBe(names.length)
    if (command.includes('--tools')) expect(names).toHaveLength(61)
  })

  test.each([
    ['legacy', serverCommand('sdk2')],
    ['modern', serverCommand('sdk2', '--modern-only')],
  ])('a result of 5 MB (%s)', async (_name, command) => {
    const { mcp, ...all } = harness()
    await all.start('demo', command)
    expect(textOf(await mcp.service.callTool('demo', 'big', { bytes: 5_000_000 }, { signal }))).toHaveLength(5_000_000)
  })

  test('a result above the frame limit fails its own call alone', async () => {
    const { mcp, ...all } = harness({ maxFrameBytes: 1 << 20 })
    await all.start('demo', serverCommand('plain'))
    const large = mcp.service.callTool('demo', 'big', { bytes: 3_000_000 }, { signal })
    const small = mcp.service.callTool('demo', 'echo', { message: 'small' }, { signal })
    await expect(large).rejects.toMatchObject({ code: 'FRAME_TOO_LARGE' })
    expect(textOf(await small)).toBe('small')
  })

  test('progress reaches the caller and keeps the call alive beyond its timeout', async () => {
    const { mcp, ...all } = harness()
    await all.start('demo', serverCommand('plain'))
    const steps: number[] = []
    const call = mcp.service.callTool(
      'demo',
      'slow',
      { ms: 1_500, progress: 50 },
      { signal, timeoutMs: 1_000, onProgress: ({ progress }) => steps.push(progress) },
    )
    expect(textOf(await call)).toBe('slept')
    expect(steps.slice(0, 3)).toEqual([1, 2, 3])
  })

  test('what this client does not offer is refused, not promised', async () => {
    const all = harness()
    await all.start('one', serverCommand('sdk1'))
    expect((await factsOf(all, 'one')).capabilities).toEqual({})
    await expect(all.mcp.service.callTool('one', 'sample', {}, { signal })).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    await all.start('two', serverCommand('plain'))
    const answer = await all.mcp.service.callTool('two', 'ask', { method: 'roots/list' }, { signal })
    expect(JSON.parse(textOf(answer))).toEqual({ code: -32601, message: 'This client does not offer roots/list' })
    expect(JSON.parse(textOf(await all.mcp.service.callTool('two', 'ask', { method: 'ping' }, { signal })))).toEqual({})
  })

  test('a result that asks for input says so', async () => {
    const all = harness()
    await all.start('demo', serverCommand('plain', '--era', 'modern'))
    await expect(all.mcp.service.callTool('demo', 'ask', { method: 'elicitation/create' }, { signal })).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringContaining('elicitation/create'),
    })
  })
})

describe('bad calls', () => {
  test('unknown packages and tools, with the nearest name', async () => {
    const { mcp, ...all } = harness()
    await all.start('demo', serverCommand('plain'))
    await expect(mcp.service.callTool('demo', 'echos', {}, { signal })).rejects.toMatchObject({
      code: 'TOOL_NOT_FOUND',
      hint: 'did you mean echo?',
    })
    await expect(mcp.service.callTool('demo', 'ecoh', {}, { signal })).rejects.toMatchObject({
      hint: expect.stringMatching(/^the nearest is echo; there are echo, add/),
    })
    await expect(mcp.service.callTool('dmeo', 'echo', {}, { signal })).rejects.toMatchObject({ code: 'PACKAGE_NOT_FOUND' })
    expect(() => mcp.service.tools('dmeo')).toThrow(expect.objectContaining({ code: 'PACKAGE_NOT_FOUND' }))
  })

  test('arguments are checked against the schema, every problem at once, before the package hears of them', async () => {
    const all = harness()
    await all.start('demo', serverCommand('plain'))
    const call = all.mcp.service.callTool('demo', 'add', { a: 'one', b: -1 }, { signal })
    await expect(call).rejects.toMatchObject({
      code: 'ARGUMENTS_INVALID',
      issues: [
        { pointer: '/a', message: 'must be number', rule: 'type' },
        { pointer: '/b', message: 'must be >= 0', rule: 'minimum' },
      ],
    })
    const extra = all.mcp.service.callTool('demo', 'echo', { massage: 'x' }, { signal })
    await expect(extra).rejects.toMatchObject({ issues: [{ pointer: '/message' }, { pointer: '/massage' }] })
    expect((await factsOf(all)).calls).toBe(1)
  })

  test('a package that cannot be run says so', async () => {
    const refuse = Object.assign(new Error('asleep'), { code: 'NOT_RUNNING' })
    const { mcp, ...all } = harness({ ensureRunning: () => Promise.reject(refuse) })
    await all.start('demo', serverCommand('plain'))
    await expect(mcp.service.callTool('demo', 'echo', { message: '' }, { signal })).rejects.toBe(refuse)
  })
})

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
