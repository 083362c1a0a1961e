import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Problem } from '../../daemon/api/schemas/common.ts'
import type { PackageView } from '../../daemon/api/schemas/packages.ts'
import type { CallToolResult, ToolView } from '../../daemon/api/schemas/tools.ts'
import { missing } from '../provision/requirements.ts'
import { createTestHome, type TestHome } from './testHome.ts'

const reason = await missing('docker', 'npm-registry', 'pypi')
const root = join(import.meta.dirname, '..', '..')

describe.skipIf(reason)(`install, start, call, stop, uninstall [${reason}]`, () => {
  let home: TestHome
  let docs = ''
  const docker = new Docker()
  beforeAll(async () => {
    home = await createTestHome({ driver: 'docker' })
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    if (docs) await rm(docs, { recursive: true })
  })

  const view = async (id: string) => (await home.pkg(['info', id, '--json'])).json<PackageView>()
  const inspect = async (id: string) => docker.getContainer((await view(id)).sandbox?.id ?? '').inspect()

  it('an npm server without a manifest of ours is derived, with the tightest sandbox', async () => {
    const installed = await home.pkg(['install', 'npm:@modelcontextprotocol/server-everything'])
    expect(installed.stderr).toBe('')
    expect(installed.stdout).toMatch(/^Installed server-everything \d/)
    expect(await view('server-everything')).toMatchObject({
      manifestOrigin: 'derived',
      state: 'stopped',
      network: { mode: 'none' },
      mounts: [],
      data: false,
    })
    expect(await home.containers()).toEqual([])
  })

  it('starts, lists and calls', async () => {
    expect((await home.pkg(['start', 'server-everything'])).stdout).toMatch(/is running/)
    const tools = (await home.pkg(['tools', '--json'])).json<ToolView[]>()
    expect(tools.map(({ name }) => name)).toContain('echo')
    expect((await home.pkg(['call', 'server-everything/echo', '{"message":"hi"}'])).stdout).toBe('Echo: hi\n')
    const overRest = await home.rest<CallToolResult>('POST', '/v1/tools/call', {
      package: 'server-everything',
      tool: 'echo',
      arguments: { message: 'hi' },
    })
    expect(overRest.body.content).toEqual([{ type: 'text', text: 'Echo: hi' }])
  })

  it('holds every limit, and says what the kernel says', async () => {
    const { HostConfig, Config } = await inspect('server-everything')
    expect(HostConfig).toMatchObject({
      Memory: 256 * 1024 ** 2,
      MemorySwap: 256 * 1024 ** 2,
      PidsLimit: 128,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      NetworkMode: 'none',
      Init: true,
      RestartPolicy: { Name: expect.stringMatching(/^(no|)$/) },
    })
    expect(HostConfig.SecurityOpt).toContain('no-new-privileges')
    expect(HostConfig.NanoCpus || ((HostConfig.CpuQuota ?? 0) / (HostConfig.CpuPeriod ?? 1)) * 1e9).toBe(1e9)
    expect(Config.User).toMatch(/^[1-9]\d{5,9}(:[1-9]\d{5,9})?$/)
    const { limits, sandbox } = await view('server-everything')
    expect(limits.effective).toEqual({ memoryBytes: 256 * 1024 ** 2, cpus: 1, pids: 128, tmpBytes: 64 * 1024 ** 2 })
    expect(limits.asked).toEqual(limits.effective)
    expect(sandbox).toMatchObject({ readOnlyRoot: true, capabilities: [], noNewPrivileges: true, seccomp: true, init: true })
  })

  it('reads resources and prompts', async () => {
    expect((await home.pkg(['prompts', 'server-everything'])).stdout).toContain('server-everything')
    const [resource] = (await home.pkg(['resources', 'server-everything', '--json'])).json<{ uri: string }[]>()
    expect((await home.pkg(['resources', 'server-everything', resource?.uri ?? ''])).exitCode).toBe(0)
  })

  it('a mount is granted read-only, and is all that the package sees of the host', async () => {
    docs = await mkdtemp(join(tmpdir(), 'pkgd-docs-'))
    await chmod(docs, 0o755) // the package reads it as a user of its own
    await writeFile(join(docs, 'note.txt'), 'from the host')
    const args = ['install', 'npm:@modelcontextprotocol/server-filesystem', '--mount', `${docs}:/docs:ro`, '--start', '--', '/docs']
    expect(await home.pkg(args)).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await home.pkg(['call', 'server-filesystem/read_text_file', '{"path":"/docs/note.txt"}'])).stdout).toContain('from the host')
    const written = await home.pkg(['call', 'server-filesystem/write_file', '{"path":"/docs/new.txt","content":"x"}'])
    expect(written.exitCode).toBe(1)
    expect(written.stdout).toMatch(/EROFS|read-only/i)
  })

  it('a PyPI server is derived from its console script', async () => {
    expect(await home.pkg(['install', 'pypi:mcp-server-time', '--start'])).toMatchObject({ exitCode: 0, stderr: '' })
    const called = await home.pkg(['call', 'mcp-server-time/get_current_time', '{"timezone":"UTC"}', '--json'])
    expect(called.json<CallToolResult>().content[0]?.text).toContain('UTC')
  })

  it('the weather package asks for the network, and says so when it has none', async () => {
    const refused = await home.pkg(['install', './packages/weather'], { cwd: root })
    expect(refused.stderr).toContain('error CONSENT_REQUIRED: ')
    expect(refused.exitCode).toBe(6)
    expect(await home.pkg(['install', './packages/weather', '--yes', '--network', 'none', '--start'], { cwd: root })).toMatchObject({
      exitCode: 0,
    })
    const called = await home.pkg(['call', 'weather-tool/get_current_weather', '{"location":"Taipei"}'])
    expect(called.exitCode).toBe(1)
    expect(called.stdout).toMatch(/network|reach|connect/i)
  })

  it('no value is in the container’s configuration', async () => {
    const secret = 'a-value-that-must-not-leak'
    expect(
      await home.pkg(
        ['install', 'npm:@modelcontextprotocol/server-memory', '--secret', 'API_KEY', '--env', `PLAIN=${secret}-plain`, '--start'],
        { input: secret },
      ),
    ).toMatchObject({ exitCode: 0 })
    expect(JSON.stringify(await inspect('server-memory'))).not.toContain(secret)
    expect(JSON.stringify(await view('server-memory'))).not.toContain(secret)
  })

  it('lists, logs, counts, stops, restarts and uninstalls', async () => {
    const listed = (await home.pkg(['list', '--json'])).json<PackageView[]>()
    expect(listed.filter(({ state }) => state === 'running').map(({ id }) => id)).toEqual([
      'mcp-server-time',
      'server-everything',
      'server-filesystem',
      'server-memory',
      'weather-tool',
    ])
    expect((await home.pkg(['logs', 'server-filesystem'])).stdout).toMatch(/filesystem/i)
    expect((await home.pkg(['stats'])).stdout).toMatch(/server-everything +\d+(\.\d)? MB \/ 256 MB/)
    const before = (await view('server-everything')).sandbox?.id
    expect((await home.pkg(['restart', 'server-everything'])).exitCode).toBe(0)
    expect((await view('server-everything')).sandbox?.id).not.toBe(before)
    expect((await home.pkg(['stop', 'server-everything'])).stdout).toContain('is stopped')
    const called = await home.pkg(['call', 'server-everything/echo', '{"message":"hi"}'])
    expect(called.stderr).toContain('hint: pkg start server-everything')
    expect((await home.pkg(['uninstall', 'server-everything'])).exitCode).toBe(0)
    expect((await home.rest<Problem>('GET', '/v1/packages/server-everything')).body).toMatchObject({
      status: 404,
      code: 'PACKAGE_NOT_FOUND',
    })
  })

  it('installs the same again from the lockfile alone, without a network', async () => {
    await home.pkg(['uninstall', 'mcp-server-time'])
    const again = await home.pkg(['install', 'pypi:mcp-server-time'])
    expect(again).toMatchObject({ exitCode: 0 })
    const frozen = await home.pkg(['install', '--frozen', '--yes'])
    expect(frozen).toMatchObject({ exitCode: 0 })
  })

  it('doctor has nothing to complain about', async () => {
    const doctor = await home.pkg(['doctor'])
    expect(doctor.exitCode).toBe(0)
    expect((await home.pkg(['doctor', '--verify'])).stdout).not.toContain('CHANGED')
  })
})
