import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Dockerode from 'dockerode'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../daemon/core/ports.ts'
import { readLockfile } from '../../../registry/lockfile/lockfileOnDisk.ts'
import { createDockerDriver } from '../../../sandbox/docker/dockerDriver.ts'
import { createImageBuilder } from '../../../sandbox/images/imageBuilder.ts'
import { createEgressGuard, type EgressGuard } from '../../../sandbox/network/egressGuard.ts'
import { writePackage } from './folderPackage.ts'
import { snapshotHome } from './homeSnapshot.ts'
import { jobContext, openParts, type Parts, type PartsOptions, requestOf } from './openParts.ts'

const engine = new Dockerode()
const spec = 'pypi:mcp-server-time'
/** Nothing answers behind it. */
const cutOff = { ...process.env, PIP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9' }

let shared: string
let root: string
const at = (name: string) => join(root, name)
beforeAll(async () => {
  shared = await mkdtemp(join(tmpdir(), 'pkgd-pypi-images-'))
})
afterAll(() => rm(shared, { recursive: true, force: true }))
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pkgd-pypi-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** Runs the body on a home with the docker driver, and sees that no container or network is left. */
async function within<T>(home: string, body: (parts: Parts) => Promise<T>, options: PartsOptions = {}): Promise<T> {
  let guard: EgressGuard | undefined
  const openDriver: PartsOptions['openDriver'] = ({ home, state: { daemonId }, store, log }) => {
    const egress = createEgressGuard({ daemonId, pool: '10.214.0.0/16', allowPrivate: [], resolvers: [], clock: systemClock, log })
    guard = egress
    const images = createImageBuilder({ directory: shared, log })
    return createDockerDriver({ home, daemonId, trees: store, images, imageReferences: {}, egress, log, clock: systemClock })
  }
  const parts = await openParts(at(home), { openDriver, ...options })
  try {
    return await body(parts)
  } finally {
    const filters = { label: [`io.pkgd.daemon=${parts.state.daemonId}`] }
    await parts[Symbol.asyncDispose]()
    await guard?.close()
    expect(await engine.listContainers({ all: true, filters })).toEqual([])
    expect(await engine.listNetworks({ filters })).toEqual([])
  }
}

const install = async (parts: Parts, what: string, changes = {}) =>
  (await parts.installer.install(requestOf(what, changes), jobContext())).package.record

test('a PyPI package runs from its tree alone, is there again without a network, and the same from the lockfile', {
  timeout: 180_000,
}, async () => {
  const lockfile = await within('home', async (parts) => {
    const { tree, command } = await install(parts, spec)
    expect(command).toEqual(['python', '/app/.pkgd/run.py'])
    const directory = parts.store.locate(tree)
    expect((await readdir(join(directory, '.pkgd'))).sort()).toEqual(['python', 'run.py'])
    expect((await stat(join(directory, '.pkgd', 'python', 'mcp_server_time'))).uid).toBe(process.getuid?.())
    expect(await readdir(join(directory, '.pkgd', 'python', 'mcp_server_time', '__pycache__'))).not.toEqual([])
    const locked = (await readLockfile(parts.home.lockfile)).packages['mcp-server-time']?.dependencies ?? {}
    expect(Object.keys(locked).some((key) => /^pypi:pydantic-core@/.test(key))).toBe(true)
    expect(Object.values(locked).every((integrity) => integrity.startsWith('sha256-'))).toBe(true)

    const image = await parts.driver.prepareImage({ runtime: 'python' }, jobContext())
    const ran = await parts.driver.runToEnd(
      {
        identity: { daemon: parts.state.daemonId, packageId: 'mcp-server-time', version: '1.0.0', spec: 'test' },
        image,
        command: ['python3', '/tree/.pkgd/run.py', '--help'],
        env: { PYTHONPATH: '/tree/.pkgd/python', PYTHONDONTWRITEBYTECODE: '1' },
        uid: 299_998,
        limits: { memoryBytes: 256 * 1024 ** 2, cpus: 1, pids: 64, tmpBytes: 16 * 1024 ** 2 },
        mounts: [{ source: directory, target: '/tree', readOnly: true }],
        reach: [],
      },
      jobContext(),
    )
    expect(ran).toMatchObject({ exit: { kind: 'exit', code: 0 }, output: expect.stringContaining('usage: mcp-server-time') })
    const text = await readFile(parts.home.lockfile, 'utf8')
    await parts.installer.uninstall('mcp-server-time', { purge: true }, jobContext())
    return text
  })
  const { packages } = JSON.parse(lockfile)
  await within(
    'home',
    async (parts) => {
      await install(parts, spec)
      expect((await readLockfile(parts.home.lockfile)).packages['mcp-server-time']?.dependencies).toEqual(
        packages['mcp-server-time'].dependencies,
      )
    },
    { env: cutOff },
  )
  await mkdir(at('other'))
  await writeFile(join(at('other'), 'pkgd.lock'), lockfile)
  await within('other', async (parts) => {
    await install(parts, spec, { frozen: true })
    expect((await readLockfile(parts.home.lockfile)).packages['mcp-server-time']?.dependencies).toEqual(
      packages['mcp-server-time'].dependencies,
    )
  })
})

const python = (packages: readonly string[]) => ({
  id: 'w',
  mcp: { command: 'python', args: ['server.py'] },
  dependencies: { python: '>=3.11', packages },
})

test.each<[string, readonly string[], string, string]>([
  ['that nobody has', ['pkgd-there-is-no-such-package'], 'DEPENDENCY_INSTALL_FAILED', 'pkgd-there-is-no-such-package'],
  ['at odds with each other', ['pydantic==2.5.0', 'pydantic-core==2.10.0'], 'DEPENDENCY_UNSOLVABLE', 'exclude each other'],
  ['without a wheel', ['docopt==0.6.2'], 'DEPENDENCY_INSTALL_FAILED', 'docopt'],
])('requirements %s are refused, and nothing is changed', { timeout: 120_000 }, async (_name, packages, code, message) => {
  await within('home', async (parts) => {
    const folder = await writePackage(at('w'), python(packages), { 'server.py': '' })
    const before = snapshotHome(parts.home.root, parts.state)
    await expect(install(parts, folder)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
    await parts.store.settled()
    expect(snapshotHome(parts.home.root, parts.state)).toEqual(before)
  })
})

test('a source is built where the operator allows it, with the index as the only network', { timeout: 120_000 }, async () => {
  await within(
    'home',
    async (parts) => {
      const folder = await writePackage(at('w'), python(['docopt==0.6.2']), { 'server.py': '' })
      const { tree } = await install(parts, folder)
      expect(await readdir(join(parts.store.locate(tree), '.pkgd', 'python'))).toContain('docopt.py')
    },
    { yaml: 'install:\n  sdist: true\n' },
  )
})
