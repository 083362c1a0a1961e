import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createTestHome } from '../e2e/testHome.ts'
import { printComparison, printLimit, timed } from './measure/figures.ts'

export const title = "`pkg list` against `node -e 0`, and the idle daemon's memory"

const rounds = 21
const exec = promisify(execFile)

export async function run(): Promise<void> {
  await using home = await createTestHome({ driver: 'docker' })
  await home.pkg(['daemon', 'start'])
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'pkg')
  const env = { ...process.env, PKGD_HOME: home.path }
  const list: number[] = []
  const node: number[] = []
  for (let round = -2; round < rounds; round++) {
    const ours = await timed(() => exec(bin, ['list'], { env }))
    const bare = await timed(() => exec(process.execPath, ['-e', '0'], { env }))
    if (round < 0) continue // warms both
    list.push(ours)
    node.push(bare)
  }
  printComparison('ms', { name: 'pkg list', values: list }, { name: 'node -e 0', values: node }, { atMost: 3 })

  const resident: number[] = []
  for (let sample = 0; sample < 5; sample++) {
    await delay(1000)
    const status = readFileSync(`/proc/${home.daemonPid()}/status`, 'utf8')
    resident.push(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024)
  }
  printLimit('MB', { name: 'RSS of the idle daemon', values: resident }, 90)
}
