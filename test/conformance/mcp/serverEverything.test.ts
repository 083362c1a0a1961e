import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMcpHarness, type McpHarness } from '../../fixtures/servers/mcpHarness.ts'
import { missing } from '../../provision/requirements.ts'

const name = '@modelcontextprotocol/server-everything'
const unavailable = await missing('npm-registry')

describe.skipIf(unavailable !== null)(unavailable === null ? name : `${name} [${unavailable}]`, () => {
  let directory = ''
  let harness: McpHarness
  const signal = AbortSignal.timeout(170_000)

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pkgd-everything-'))
    await writeFile(join(directory, 'package.json'), '{"private":true}')
    await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', name], {
      cwd: directory,
    })
    harness = createMcpHarness()
    await harness.start('everything', [process.execPath, join(directory, 'node_modules', name, 'dist/index.js')])
  }, 170_000)
  afterAll(async () => {
    await harness?.[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  test('its tools, resources, templates and prompts are listed', () => {
    const { service } = harness.mcp
    expect(service.tools('everything').map((tool) => tool.name)).toContain('echo')
    expect(service.resources('everything').length).toBeGreaterThan(0)
    expect(service.resourceTemplates('everything').length).toBeGreaterThan(0)
    expect(service.prompts('everything').length).toBeGreaterThan(0)
    expect(harness.state.catalogs.get('everything', 'tree-1')?.value).toMatchObject({
      era: 'legacy',
      serverInfo: { name: expect.any(String) },
    })
  })

  test('its tools answer', async () => {
    const result = await harness.mcp.service.callTool('everything', 'echo', { message: 'hi' }, { signal })
    expect(result.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('hi') })
  })

  test('its schemas are enforced', async () => {
    await expect(harness.mcp.service.callTool('everything', 'echo', {}, { signal })).rejects.toMatchObject({
      code: 'ARGUMENTS_INVALID',
      issues: [{ pointer: '/message' }],
    })
  })

  test('its resources can be read', async () => {
    const [resource] = harness.mcp.service.resources('everything')
    const { contents } = await harness.mcp.service.readResource('everything', resource?.uri ?? '', { signal })
    expect(contents.length).toBeGreaterThan(0)
  })
})
