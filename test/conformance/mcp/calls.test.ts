import { describe, expect, test } from 'vitest'
import { serverCommand } from '../../fixtures/servers/startProgram.ts'
import { factsOf, harness, signal, textOf } from './testKit.ts'

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
