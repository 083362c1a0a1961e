import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createFakeDriver } from '../../../sandbox/fake/fakeDriver.ts'
import { createFakeEngine } from '../../../sandbox/fake/fakeEngine.ts'
import type { FakeProgram } from '../../../sandbox/fake/fakeProgram.ts'
import { eatMemory, echoLines, exitWith, ignoreTerm } from '../../../sandbox/fake/fakePrograms.ts'
import { type DriverBench, plainContext } from './driverBench.ts'

const deaf: FakeProgram = (context) => {
  context.stdio.write('deaf\n')
  return ignoreTerm(context)
}

const listen: FakeProgram = (context) => {
  context.listen({ port: Number(context.argv[1]) }, (connection) => connection.pipe(connection))
  context.stdio.write('listening\n')
  return echoLines(context)
}

const talk: FakeProgram = async ({ argv, stderr, stdio }) => {
  const [, count = '0', length = '0'] = argv
  const say = (number: number) => stderr(`line ${number} `.padEnd(Number(length), '.'))
  let said = 0
  while (said < Number(count)) say(++said)
  stdio.write('said\n')
  for await (const _line of createInterface({ input: stdio })) say(++said)
  return 0
}

/** The driver in memory. Its programs are functions, so what only a kernel can promise is left to the others. */
export async function openFakeBench(): Promise<DriverBench> {
  const root = await mkdtemp(join(tmpdir(), 'pkgd-contract-'))
  const daemonId = randomBytes(4).toString('hex')
  const engine = createFakeEngine({ programs: { echo: echoLines, exit: exitWith, eat: eatMemory, deaf, listen, talk } })
  let driver = createFakeDriver({ engine, daemon: daemonId })
  const request = { runtime: 'node' } as const
  const image = await driver.prepareImage(request, plainContext())

  return {
    daemonId,
    get driver() {
      return driver
    },
    capabilities: await driver.capabilities(),
    image,
    request,
    tree: 'contract',
    programs: root,
    confines: false,
    command: (program, ...args) => [program, ...args],
    addressOf: async () => null,
    async nextDaemon() {
      driver.die()
      driver = createFakeDriver({ engine, daemon: daemonId })
    },
    async directory() {
      const path = await mkdtemp(join(root, 'grant-'))
      await writeFile(join(path, 'hello'), 'from the host')
      return path
    },
    traces: async () =>
      [...engine.sandboxes.values()].filter(({ spec }) => spec.identity.daemon === daemonId).map(({ handle }) => `sandbox ${handle.name}`),
    configuration: async (handle) => JSON.stringify(engine.sandboxes.get(handle.id)?.handle),
    async foreign() {
      const spec = {
        identity: { daemon: 'ffffffff', packageId: 'foreign', version: '1.0.0', spec: 'other' },
        image,
        tree: 'contract',
        command: ['echo'],
        env: {},
        uid: 210_000,
        limits: { memoryBytes: 1 << 20, cpus: 1, pids: 8, tmpBytes: 1 << 20 },
        network: { mode: 'none' },
        mounts: [],
        data: null,
        logBytes: 1 << 20,
        allowUnenforced: [],
      } as const
      const { handle } = engine.launch(spec)
      return {
        handle,
        isUntouched: async () => engine.sandboxes.get(handle.id)?.process.ended === null,
        async [Symbol.asyncDispose]() {
          engine.remove(handle.id)
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await driver[Symbol.asyncDispose]()
      await rm(root, { recursive: true, force: true })
    },
  }
}
