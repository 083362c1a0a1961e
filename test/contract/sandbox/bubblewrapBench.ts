import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { locateHome } from '../../../daemon/core/home.ts'
import { systemClock } from '../../../daemon/core/ports.ts'
import { createBubblewrapDriver } from '../../../sandbox/bubblewrap/bubblewrapDriver.ts'
import { createCgroupTree } from '../../../sandbox/bubblewrap/cgroup.ts'
import { toLinkName } from '../../../sandbox/bubblewrap/packageNetwork.ts'
import { readProcess } from '../../../sandbox/bubblewrap/processIdentity.ts'
import { readRecord, runFile, type SandboxRecord, writeRecord } from '../../../sandbox/bubblewrap/sandboxRecord.ts'
import { createImageBuilder } from '../../../sandbox/images/imageBuilder.ts'
import { createEgressGuard } from '../../../sandbox/network/egressGuard.ts'
import type { SandboxDriver } from '../../../sandbox/sandboxDriver.ts'
import { type DriverBench, plainContext } from './driverBench.ts'
import { silentLog } from './silentLog.ts'

export interface BubblewrapBench extends DriverBench {
  /** The home, and where its run directories are. */
  readonly root: string
  readonly run: string
}

/** The bubblewrap driver on this machine. */
export async function openBubblewrapBench(): Promise<BubblewrapBench> {
  const root = await mkdtemp(join(tmpdir(), 'pkgd-contract-'))
  const daemonId = randomBytes(4).toString('hex')
  const home = locateHome({ PKGD_HOME: join(root, 'home') })
  const tree = join(root, 'tree')
  await cp(join(import.meta.dirname, 'programs'), tree, { recursive: true })
  for (const name of await readdir(tree)) await chmod(join(tree, name), 0o644)
  for (const path of [root, tree]) await chmod(path, 0o755)
  const cgroups = createCgroupTree(daemonId)
  const links = new Set<string>()
  let egress = openGuard()
  let driver = openDriver()

  function openGuard() {
    return createEgressGuard({
      daemonId,
      pool: '10.214.0.0/16',
      allowPrivate: [],
      resolvers: ['198.51.100.7'],
      clock: systemClock,
      log: silentLog,
    })
  }
  function openDriver(): SandboxDriver {
    const images = createImageBuilder({ directory: home.images, log: silentLog })
    return createBubblewrapDriver({ home, daemonId, trees: { locate: () => tree }, images, egress, log: silentLog, clock: systemClock })
  }
  const runDirectories = async () => {
    await mkdir(home.run, { recursive: true })
    const names = await readdir(home.run)
    for (const name of names) links.add(toLinkName(name))
    return names
  }

  const request = { runtime: 'node' } as const
  const image = await driver.prepareImage(request, plainContext())
  return {
    root: home.root,
    run: home.run,
    daemonId,
    get driver() {
      return driver
    },
    capabilities: await driver.capabilities(),
    image,
    request,
    tree: 'contract',
    programs: tree,
    confines: true,
    command: (program, ...args) => ['node', `${program}.mjs`, ...args],
    async nextDaemon() {
      await driver[Symbol.asyncDispose]()
      await egress.close()
      egress = openGuard()
      driver = openDriver()
    },
    async directory() {
      const path = await mkdtemp(join(root, 'grant-'))
      await writeFile(join(path, 'hello'), 'from the host')
      await chmod(path, 0o777)
      return path
    },
    async traces() {
      const { stdout: rules } = await execa('iptables-save')
      const namespaces = await readdir('/run/netns').catch(() => [])
      return [
        ...(await runDirectories()).map((name) => `run directory ${name}`),
        ...(await cgroups.list()).map((name) => `cgroup ${name}`),
        ...namespaces.filter((name) => links.has(name)).map((name) => `network namespace ${name}`),
        ...rules.split('\n').filter((line) => line.includes(`PKGD-${daemonId}`)),
      ]
    },
    async configuration({ name }) {
      const directory = join(home.run, name)
      const files = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isFile())
      const texts = await Promise.all(files.map((file) => readFile(join(directory, file.name), 'utf8')))
      const members = await (await cgroups.open(name)).members()
      const { supervisor } = JSON.parse(await readFile(join(directory, runFile.live), 'utf8'))
      const processes = [supervisor.pid, ...members.slice(0, 2)]
      const lines = await Promise.all(
        processes.flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`]).map((path) => readFile(path, 'utf8')),
      )
      return [...texts, ...lines].join('\n')
    },
    async addressOf({ name }) {
      const record = await readRecord<SandboxRecord>(join(home.run, name), runFile.record)
      return record?.link?.subnet.address ?? null
    },
    async foreign() {
      const name = `pkgd-${daemonId}-foreign`
      const directory = join(home.run, name)
      const other = spawn('sleep', ['600'], { stdio: 'ignore' })
      await once(other, 'spawn')
      const self = await readProcess(other.pid ?? 0)
      if (!self) throw new Error('the foreign process is gone')
      await mkdir(directory, { recursive: true })
      const identity = { daemon: 'ffffffff', packageId: 'foreign', version: '1.0.0', spec: 'other' }
      await writeRecord(directory, runFile.record, { identity, name, builder: null, link: null })
      await writeRecord(directory, runFile.live, { supervisor: self, box: { init: self, main: self }, startedAt: new Date().toISOString() })
      return {
        handle: { driver: 'bubblewrap', id: name, name },
        isUntouched: async () => other.exitCode === null && other.signalCode === null && (await readdir(directory)).length === 2,
        async [Symbol.asyncDispose]() {
          other.kill('SIGKILL')
          await once(other, 'exit')
          await rm(directory, { recursive: true, force: true })
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { handle } of await driver.list()) await driver.destroy(handle)
      await driver[Symbol.asyncDispose]()
      await egress.reassert()
      await egress.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
