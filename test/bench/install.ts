import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { createTestHome } from '../e2e/testHome.ts'
import { printComparison, timed } from './measure/figures.ts'

export const title = 'install of server-everything from a warm cache, against `npm install` of it'

const rounds = 7
const server = '@modelcontextprotocol/server-everything'

export async function run(): Promise<void> {
  await using home = await createTestHome({ driver: 'docker' })
  const install = async () => {
    const { exitCode, stderr } = await home.pkg(['install', `npm:${server}`])
    if (exitCode !== 0) throw new Error(stderr)
  }
  const npmInstall = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pkgd-npm-'))
    const took = await timed(() => execa('npm', ['install', server, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder }))
    await rm(folder, { recursive: true })
    return took
  }
  const ours: number[] = []
  const npm: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const took = await timed(install)
    await home.pkg(['uninstall', 'server-everything', '--purge'])
    const peer = await npmInstall()
    if (round === 0) continue // warms both caches
    ours.push(took)
    npm.push(peer)
  }
  printComparison('ms', { name: 'pkg install', values: ours }, { name: 'npm install', values: npm }, { atMost: 1.5 })
}
