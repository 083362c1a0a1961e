import Docker from 'dockerode'
import type { JobView } from '../../daemon/api/schemas/jobs.ts'
import type { PackageView } from '../../daemon/api/schemas/packages.ts'
import type { ToolView } from '../../daemon/api/schemas/tools.ts'
import { createTestHome } from '../e2e/testHome.ts'
import { runBare } from './measure/bareContainer.ts'
import { printComparison, printRow } from './measure/figures.ts'

export const title = 'start of an installed server to its tools listed, against the bare engine calls'

const rounds = 9

export async function run(): Promise<void> {
  await using home = await createTestHome({ driver: 'docker' })
  const docker = new Docker()
  const installed = await home.pkg(['install', 'npm:@modelcontextprotocol/server-everything', '--start'])
  if (installed.exitCode !== 0) throw new Error(installed.stderr)
  const view = (await home.rest<PackageView>('GET', '/v1/packages/server-everything')).body
  const model = await docker.getContainer(view.sandbox?.id ?? '').inspect()

  const ours: number[] = []
  const phases = { verified: [] as number[], created: [] as number[], started: [] as number[], initialized: [] as number[] }
  const bare: number[] = []
  for (let round = 0; round <= rounds; round++) {
    await home.rest('POST', '/v1/packages/server-everything/stop?wait=true')
    const begin = performance.now()
    const started = await home.rest<JobView>('POST', '/v1/packages/server-everything/start?wait=true')
    const tools = await home.rest<ToolView[]>('GET', '/v1/tools?package=server-everything')
    const took = performance.now() - begin
    if (started.body.state !== 'succeeded' || tools.body.length === 0) throw new Error(JSON.stringify(started.body))
    await home.rest('POST', '/v1/packages/server-everything/stop?wait=true')
    await using alone = await runBare(docker, model, view.command)
    if (round === 0) continue // warms both
    ours.push(took)
    bare.push(alone.listed)
    phases.created.push(alone.created)
    phases.started.push(alone.started - alone.created)
    phases.initialized.push(alone.initialized - alone.started)
  }
  printComparison(
    'ms',
    { name: 'pkgd start to tools listed', values: ours },
    { name: 'bare create + start + initialize + list', values: bare },
    { atMost: 1.2 },
  )
  printRow('ms', { name: '  bare: create', values: phases.created })
  printRow('ms', { name: '  bare: start', values: phases.started })
  printRow('ms', { name: '  bare: initialize', values: phases.initialized })
}
