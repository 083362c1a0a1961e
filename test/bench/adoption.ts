import { createPackageFolder, nodeServer, serverProgram } from '../e2e/packages.ts'
import { createTestHome, type TestHome } from '../e2e/testHome.ts'
import { printLimit } from './measure/figures.ts'

export const title = 'kill -9 of the daemon, then: the next daemon has adopted every package and answers for it'

const rounds = 5

export async function run(): Promise<void> {
  for (const count of [1, 10]) {
    await using folder = await createPackageFolder()
    await using home = await createTestHome({ driver: 'docker' })
    const ids = Array.from({ length: count }, (_, index) => `echo-${index}`)
    for (const id of ids) {
      const { exitCode, stderr } = await home.pkg([
        'install',
        await folder.write(nodeServer(id), { 'server.mjs': serverProgram() }),
        '--start',
      ])
      if (exitCode !== 0) throw new Error(stderr)
    }
    const before = await containerIds(home)
    const adopted: number[] = []
    for (let round = 0; round < rounds; round++) {
      process.kill(home.daemonPid(), 'SIGKILL')
      const begin = performance.now()
      await home.pkg(['daemon', 'start'])
      await Promise.all(ids.map((id) => call(home, id)))
      adopted.push(performance.now() - begin)
      if ((await containerIds(home)) !== before) throw new Error('The containers are not the same')
    }
    printLimit('ms', { name: `new daemon, ${count} adopted and called`, values: adopted }, 1000)
  }
}

const containerIds = async (home: TestHome) =>
  (await home.containers())
    .map(({ id }) => id)
    .sort()
    .join()

async function call(home: TestHome, id: string): Promise<void> {
  const { status, body } = await home.rest('POST', '/v1/tools/call', { package: id, tool: 'echo', arguments: { message: 'x' } })
  if (status !== 200) throw new Error(JSON.stringify(body))
}
