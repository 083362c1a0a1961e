import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Dockerode from 'dockerode'
import { locateHome } from '../../../daemon/core/home.ts'
import { systemClock } from '../../../daemon/core/ports.ts'
import type { DockerDriverDeps } from '../../../sandbox/docker/dockerContext.ts'
import { createDockerDriver } from '../../../sandbox/docker/dockerDriver.ts'
import { createImageBuilder } from '../../../sandbox/images/imageBuilder.ts'
import { createEgressGuard } from '../../../sandbox/network/egressGuard.ts'
import type { SandboxDriver } from '../../../sandbox/sandboxDriver.ts'
import { type DriverBench, plainContext } from './driverBench.ts'
import { silentLog } from './silentLog.ts'

/** The docker driver on the engine of this machine, with the data plane that is named. */
export async function openDockerBench(
  stdio: 'auto' | 'attach',
  changes: Pick<Partial<DockerDriverDeps>, 'env' | 'imageReferences' | 'disk'> = {},
): Promise<DriverBench> {
  const root = await mkdtemp(join(tmpdir(), 'pkgd-contract-'))
  const daemonId = randomBytes(4).toString('hex')
  const home = locateHome({ PKGD_HOME: join(root, 'home') })
  const tree = join(root, 'tree')
  await cp(join(import.meta.dirname, 'programs'), tree, { recursive: true })
  for (const name of await readdir(tree)) await chmod(join(tree, name), 0o644)
  for (const path of [root, tree]) await chmod(path, 0o755)
  const engine = new Dockerode()
  const label = `io.pkgd.daemon=${daemonId}`
  let egress = openGuard()
  let driver = openDriver()

  function openGuard() {
    return createEgressGuard({
      daemonId,
      pool: '10.213.0.0/16',
      allowPrivate: [],
      resolvers: ['198.51.100.7'],
      clock: systemClock,
      log: silentLog,
    })
  }
  function openDriver(): SandboxDriver {
    const images = createImageBuilder({ directory: home.images, log: silentLog })
    const trees = { locate: () => tree }
    return createDockerDriver({
      home,
      daemonId,
      trees,
      images,
      imageReferences: {},
      egress,
      log: silentLog,
      clock: systemClock,
      stdio,
      ...changes,
    })
  }
  const ours = async () => engine.listContainers({ all: true, filters: { label: [label] } })
  const volumes = async () => (await engine.listVolumes({ filters: { label: [label] } })).Volumes ?? []
  const networks = async () => engine.listNetworks({ filters: { label: [label] } })

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
    programs: tree,
    confines: true,
    async addressOf({ id, name }) {
      const { NetworkSettings } = await engine.getContainer(id).inspect()
      return NetworkSettings.Networks[name]?.IPAddress ?? null
    },
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
      await mkdir(home.run, { recursive: true })
      return [
        ...(await ours()).map(({ Names }) => `container ${Names[0]}`),
        ...(await networks()).map(({ Name }) => `network ${Name}`),
        ...(await volumes()).filter(({ Name }) => !Name.endsWith('-data')).map(({ Name }) => `volume ${Name}`),
        ...(await readdir(home.run)).map((name) => `run directory ${name}`),
      ]
    },
    async configuration({ id }) {
      return JSON.stringify(await engine.getContainer(id).inspect())
    },
    async foreign() {
      const container = await engine.createContainer({
        name: `pkgd-${daemonId}-foreign`,
        Image: image.id,
        Cmd: ['sleep', '600'],
        Labels: { 'io.pkgd.daemon': 'ffffffff', 'io.pkgd.package': 'foreign' },
        HostConfig: { NetworkMode: 'none', Init: true },
      })
      await container.start()
      return {
        handle: { driver: 'docker', id: container.id, name: `pkgd-${daemonId}-foreign` },
        isUntouched: async () => (await container.inspect()).State.Running,
        [Symbol.asyncDispose]: () => container.remove({ force: true }),
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { Id } of await ours()) await engine.getContainer(Id).remove({ force: true })
      for (const { Name } of await networks()) await engine.getNetwork(Name).remove()
      for (const { Name } of await volumes()) await engine.getVolume(Name).remove()
      await driver[Symbol.asyncDispose]()
      await egress.reassert()
      await egress.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
