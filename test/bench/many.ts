import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import type { JobView } from '../../daemon/api/schemas/jobs.ts'
import type { PackageView } from '../../daemon/api/schemas/packages.ts'
import type { ToolView } from '../../daemon/api/schemas/tools.ts'
import { createTestHome } from '../e2e/testHome.ts'
import { runBare } from './measure/bareContainer.ts'
import { printComparison } from './measure/figures.ts'

export const title = '20 installed servers started and listed, against 20 bare sequences with the same parallelism'

const count = 20
const parallel = 4
const rounds = 5

export async function run(): Promise<void> {
  const folders = await mkdtemp(join(tmpdir(), 'pkgd-bench-'))
  try {
    await using home = await createTestHome({ driver: 'docker', config: `lifecycle:\n  parallel: ${parallel}\n` })
    const ids = Array.from({ length: count }, (_, index) => `everything-${String(index).padStart(2, '0')}`)
    for (const id of ids) {
      await mkdir(join(folders, id))
      await writeFile(join(folders, id, 'package.json'), JSON.stringify(manifest(id)))
      const { exitCode, stderr } = await home.pkg(['install', join(folders, id)])
      if (exitCode !== 0) throw new Error(stderr)
    }
    const start = (id: string) => home.rest<JobView>('POST', `/v1/packages/${id}/start?wait=true`)
    const stop = (id: string) => home.rest('POST', `/v1/packages/${id}/stop?wait=true`)
    await start(ids[0] ?? '')
    const view = (await home.rest<PackageView>('GET', `/v1/packages/${ids[0]}`)).body
    const docker = new Docker()
    const model = await docker.getContainer(view.sandbox?.id ?? '').inspect()
    await stop(ids[0] ?? '')

    const ours: number[] = []
    const bare: number[] = []
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      await Promise.all(ids.map(start))
      const tools = (await home.rest<ToolView[]>('GET', '/v1/tools?limit=1000')).body
      ours.push(performance.now() - begin)
      const seen = new Set(tools.map((tool) => tool.package))
      if (seen.size !== count) throw new Error(`only ${seen.size} of ${count} are listed`)
      await Promise.all(ids.map(stop))

      const bareBegin = performance.now()
      const queue = [...ids]
      await using servers = new AsyncDisposableStack()
      await Promise.all(
        Array.from({ length: parallel }, async () => {
          while (queue.shift() !== undefined) servers.use(await runBare(docker, model, view.command))
        }),
      )
      bare.push(performance.now() - bareBegin)
    }
    printComparison(
      'ms',
      { name: `pkgd: ${count} servers started and listed`, values: ours },
      { name: `bare: ${count} x create + start + list`, values: bare },
      { atMost: 1.2 },
    )
  } finally {
    await rm(folders, { recursive: true, force: true })
  }
}

const manifest = (id: string) => ({
  id,
  name: id,
  version: '1.0.0',
  type: 'mcp-server',
  mcp: { command: 'node', args: ['node_modules/@modelcontextprotocol/server-everything/dist/index.js'] },
  dependencies: { packages: ['@modelcontextprotocol/server-everything'] },
})
