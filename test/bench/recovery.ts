import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import type { JobView } from '../../daemon/api/schemas/jobs.ts'
import type { CallToolResult } from '../../daemon/api/schemas/tools.ts'
import { createTestHome, type TestHome } from '../e2e/testHome.ts'
import { printLimit, printRow, timed } from './measure/figures.ts'

export const title = 'a killed server answers again after its own start; one that ignores SIGTERM is stopped in its grace'

const rounds = 7

export async function run(): Promise<void> {
  await using home = await createTestHome({ driver: 'docker' })
  const { exitCode, stderr } = await home.pkg(['install', 'npm:@modelcontextprotocol/server-everything', '--start'])
  if (exitCode !== 0) throw new Error(stderr)
  const starts: number[] = []
  const outages: number[] = []
  const beyond: number[] = []
  for (let round = 0; round < rounds; round++) {
    await home.rest('POST', '/v1/packages/server-everything/stop?wait=true')
    const start = await timed(() => home.rest<JobView>('POST', '/v1/packages/server-everything/start?wait=true'))
    const [container] = await home.containers()
    const killed = performance.now()
    await new Docker().getContainer(container?.id ?? '').kill({ signal: 'SIGKILL' })
    await untilItAnswers(home)
    const outage = performance.now() - killed
    starts.push(start)
    outages.push(outage)
    beyond.push(outage - start)
  }
  printRow('ms', { name: 'its own start', values: starts })
  printRow('ms', { name: 'kill -9 to the next answer', values: outages })
  printLimit('ms', { name: 'beyond its own start', values: beyond }, 500)
  await stopOfTheStubborn(home)
}

/** Calls until one is answered; the pause between two tries is part of the measured outage, so it is short. */
async function untilItAnswers(home: TestHome): Promise<void> {
  for (;;) {
    const { status, body } = await home.rest<CallToolResult>('POST', '/v1/tools/call', {
      package: 'server-everything',
      tool: 'echo',
      arguments: { message: 'x' },
    })
    if (status === 200 && body.content.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function stopOfTheStubborn(home: TestHome): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pkgd-stubborn-'))
  try {
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({
        id: 'stubborn',
        name: 'Stubborn',
        version: '1.0.0',
        type: 'mcp-server',
        mcp: { command: 'node', args: ['server.mjs'] },
      }),
    )
    await writeFile(join(folder, 'server.mjs'), stubborn)
    const { exitCode, stderr } = await home.pkg(['install', folder])
    if (exitCode !== 0) throw new Error(stderr)
    const stops: number[] = []
    for (let round = 0; round < 3; round++) {
      await home.rest('POST', '/v1/packages/stubborn/start?wait=true')
      stops.push(await timed(() => home.rest('POST', '/v1/packages/stubborn/stop?wait=true')))
    }
    printLimit('ms', { name: 'stop of one that ignores SIGTERM (grace 3 s)', values: stops }, 3000)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const stubborn = `process.on('SIGTERM', () => {})
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'stubborn', version: '1.0.0' } }
    : method === 'tools/list' ? { tools: [] } : {}
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
}
`
