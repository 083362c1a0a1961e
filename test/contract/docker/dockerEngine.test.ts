import Dockerode from 'dockerode'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEngineApi } from '../../../sandbox/docker/createEngineApi.ts'
import { dialContainer } from '../../../sandbox/docker/dialContainer.ts'
import { missing } from '../../provision/requirements.ts'
import { openDockerBench } from '../sandbox/dockerBench.ts'
import { type DriverBench, plainContext, toLaunchSpec } from '../sandbox/driverBench.ts'
import { readLine, witnessEvents } from '../sandbox/eventWitness.ts'
import { type EngineProxy, openEngineProxy } from './engineProxy.ts'

const reason = await missing('docker', 'root')

describe.skipIf(reason !== null)(`the docker driver and its engine${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  let proxy: EngineProxy
  let bench: DriverBench
  const launch = (changes = {}) => bench.driver.launch(toLaunchSpec(bench, 'engine', bench.command('echo'), changes), plainContext())

  beforeAll(async () => {
    proxy = await openEngineProxy()
    bench = await openDockerBench('auto', { env: { DOCKER_HOST: proxy.host } })
  }, 300_000)
  afterAll(async () => {
    await bench[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
  })

  it('goes where DOCKER_HOST says', () => {
    expect(proxy.connections()).toBeGreaterThan(0)
  })

  it('says that the engine is lost and found, and the sandbox has lived through it', async () => {
    await using witness = witnessEvents(bench.driver)
    const { handle } = await launch()
    await witness.about(handle, 'started')
    const channel = await bench.driver.stdio(handle)
    await proxy.cut()
    await witness.any('lost')
    await expect(bench.driver.list()).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    await expect(launch()).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    channel.write('without an engine\n')
    expect(await readLine(channel)).toBe('without an engine')
    await proxy.restore()
    await witness.any('found')
    expect((await bench.driver.list()).map((info) => info.handle)).toEqual([handle])
    await bench.driver.stop(handle, 5_000)
    expect((await witness.about(handle, 'exited')).exit).toMatchObject({ kind: 'signal', signal: 'SIGTERM' })
    expect(witness.seen.filter(({ kind }) => kind === 'lost' || kind === 'found').map(({ kind }) => kind)).toEqual(['lost', 'found'])
    await bench.driver.destroy(handle)
    expect(await bench.traces()).toEqual([])
  })

  it.each([
    { at: 'the creation', requests: /^POST \S+\/containers\/create/, status: 500, message: 'something broke', code: 'INTERNAL' },
    { at: 'the start', requests: /^POST \S+\/start/, status: 500, message: 'something broke', code: 'INTERNAL' },
    {
      at: 'the reading back',
      requests: /^GET \S+\/containers\/[0-9a-f]+\/json/,
      status: 500,
      message: 'something broke',
      code: 'INTERNAL',
    },
    {
      at: 'the creation, for a disk that is full',
      requests: /^POST \S+\/containers\/create/,
      status: 500,
      message: 'mkdir /var/lib/docker/overlay2/x: no space left on device',
      code: 'DISK_FULL',
    },
    {
      at: 'the creation, for an image that is gone',
      requests: /^POST \S+\/containers\/create/,
      status: 404,
      message: 'No such image: sha256:0000',
      code: 'IMAGE_UNAVAILABLE',
    },
    {
      at: 'the start, for an image without a shell',
      requests: /^POST \S+\/start/,
      status: 400,
      message: 'OCI runtime create failed: exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown',
      code: 'COMMAND_NOT_FOUND',
    },
  ])('leaves nothing when $at fails', async ({ requests, status, message, code }) => {
    const accept = proxy.refuse(requests, status, message)
    try {
      await expect(launch()).rejects.toMatchObject({ code })
    } finally {
      accept()
    }
    expect(await bench.traces()).toEqual([])
  })

  it('leaves no network when the start fails', async () => {
    const accept = proxy.refuse(/^POST \S+\/start/, 500, 'something broke')
    await expect(launch({ network: { mode: 'internet' } })).rejects.toMatchObject({ code: 'INTERNAL' })
    accept()
    expect(await bench.traces()).toEqual([])
  })

  it.each([
    { limit: 'pids', text: '"PidsLimit"', replacement: '"PidsLimix"' },
    { limit: 'cpu', text: '"NanoCpus"', replacement: '"NanoCpux"' },
    { limit: 'memory', text: '"Memory":134217728,"MemorySwap":134217728', replacement: '"Memory":134217729,"MemorySwap":334217729' },
    { limit: 'tmp', text: 'size=16777216', replacement: 'size=26777216' },
  ] as const)(
    'destroys a sandbox whose $limit limit the engine did not take, unless that may pass',
    async ({ limit, text, replacement }) => {
      const honest = proxy.alter(text, replacement)
      try {
        await expect(launch()).rejects.toMatchObject({ code: 'LIMIT_NOT_ENFORCED', message: expect.stringContaining(limit) })
        expect(await bench.traces()).toEqual([])
        const { handle, report } = await launch({ allowUnenforced: [limit] })
        expect(report.limits[limit].enforced).toBe(false)
        await bench.driver.destroy(handle)
      } finally {
        honest()
      }
    },
  )

  it('dials through a relay where it may not enter the namespaces', async () => {
    const { driver } = bench
    const { handle } = await driver.launch(toLaunchSpec(bench, 'relay', bench.command('listen', '9001')), plainContext())
    expect(await readLine(await driver.stdio(handle))).toBe('listening')
    const details = await new Dockerode().getContainer(handle.id).inspect()
    const api = createEngineApi({ kind: 'socket', path: '/var/run/docker.sock' })
    const connection = await dialContainer(api, details, { port: 9001 }, null)
    connection.write('through the relay\n')
    expect(await readLine(connection)).toBe('through the relay')
    connection.destroy()
    await driver.destroy(handle)
  })

  it('removes what a dead daemon left between two steps', async () => {
    const { driver, daemonId } = bench
    const engine = new Dockerode()
    await engine.createNetwork({
      Name: `pkgd-${daemonId}-left-000000`,
      Labels: { 'io.pkgd.daemon': daemonId, 'io.pkgd.package': 'left' },
      IPAM: { Config: [{ Subnet: '10.214.0.0/30' }] },
    })
    await engine.createContainer({
      name: `pkgd-${daemonId}-left-build-000000`,
      Image: bench.image.id,
      Labels: { 'io.pkgd.daemon': daemonId, 'io.pkgd.package': 'left', 'io.pkgd.purpose': 'build' },
    })
    const { handle } = await launch()
    await bench.nextDaemon()
    expect((await bench.driver.list()).map((info) => info.handle)).toEqual([handle])
    expect((await bench.traces()).filter((trace) => trace.includes('left'))).toEqual([])
    await driver[Symbol.asyncDispose]()
    await bench.driver.destroy(handle)
    expect(await bench.traces()).toEqual([])
  })

  it('lists at once what was made and never started, as ended', async () => {
    const accept = proxy.refuse(/^(POST \S+\/start|DELETE )/, 500, 'the daemon died here')
    // What broke the launch is told, not what then broke the cleaning up.
    await expect(launch()).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('start the container') })
    accept()
    const [left] = await bench.driver.list()
    expect(left?.status).toMatchObject({ state: 'exited', exit: { kind: 'exit', code: 125 } })
    if (left) await bench.driver.destroy(left.handle)
    expect(await bench.traces()).toEqual([])
  })
})
