import { randomBytes } from 'node:crypto'
import Dockerode from 'dockerode'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Progress } from '../../../daemon/core/ports.ts'
import { missing } from '../../provision/requirements.ts'
import { openDockerBench } from '../sandbox/dockerBench.ts'
import { type DriverBench, plainContext, toLaunchSpec } from '../sandbox/driverBench.ts'
import { readLine } from '../sandbox/eventWitness.ts'
import { openLocalRegistry } from './localRegistry.ts'

const reason = await missing('docker', 'root', 'docker-registry')

describe.skipIf(reason !== null)(`images from a registry${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  const engine = new Dockerode()
  let registry: Awaited<ReturnType<typeof openLocalRegistry>>
  let bench: DriverBench
  /** The image by its digest in the registry; the engine has no copy of it when a test begins with `forget`. */
  let byDigest: string
  let tagged: string

  beforeAll(async () => {
    registry = await openLocalRegistry()
    bench = await openDockerBench('auto')
    const repository = `${registry.address}/runtimes/node`
    tagged = `${repository}:26`
    // A layer of its own, so that the engine has something to pull and its id differs from the built image's.
    const base = await engine.createContainer({ Image: bench.image.id, Cmd: ['true'] })
    await base.commit({
      repo: repository,
      tag: '26',
      changes: [`LABEL pushed=${randomBytes(8).toString('hex')}`, 'ENV NODE_VERSION=26.0.1'],
    })
    await base.remove()
    const push = await engine.getImage(tagged).push({ authconfig: { username: '', password: '', serveraddress: registry.address } })
    await new Promise<void>((resolve, reject) => engine.modem.followProgress(push, (error) => (error ? reject(error) : resolve())))
    const digest = (await engine.getImage(tagged).inspect()).RepoDigests.find((name) => name.startsWith(repository))
    byDigest = digest ?? ''
  }, 300_000)
  afterAll(async () => {
    await forget()
    await bench[Symbol.asyncDispose]()
    await registry[Symbol.asyncDispose]()
  })
  const forget = async () => {
    for (const name of [tagged, byDigest])
      await engine
        .getImage(name)
        .remove()
        .catch(() => undefined)
  }

  it('are pulled by digest, once, and run', async () => {
    await forget()
    expect(byDigest).toMatch(/@sha256:[0-9a-f]{64}$/)
    const stages: Progress[] = []
    const context = { ...plainContext(), progress: (progress: Progress) => stages.push(progress) }
    const [image, twin] = await Promise.all([
      bench.driver.prepareImage({ reference: byDigest }, context),
      bench.driver.prepareImage({ reference: byDigest }, context),
    ])
    expect(image).toMatchObject({ origin: 'pulled', runtimes: { node: expect.stringMatching(/^26\./) } })
    expect(twin).toEqual(image)
    expect(stages.map(({ stage }) => stage)).toContain('pull')
    expect(await bench.driver.prepareImage({ reference: byDigest }, plainContext())).toMatchObject({ id: image.id, origin: 'cached' })
    const { handle } = await bench.driver.launch(toLaunchSpec(bench, 'pulled', bench.command('echo'), { image }), plainContext())
    const channel = await bench.driver.stdio(handle)
    channel.write('from a registry\n')
    expect(await readLine(channel)).toBe('from a registry')
    expect((await bench.driver.inspect(handle)).image).toBe(image.id)
    await bench.driver.destroy(handle)
  })

  it('stand in for a runtime where the configuration says so', async () => {
    await forget()
    await using configured = await openDockerBench('auto', { imageReferences: { node: byDigest } })
    expect(configured.image).toMatchObject({ request: { runtime: 'node' }, origin: 'pulled' })
    expect(configured.image.id).not.toBe(bench.image.id)
  })

  it('are built instead where the registry does not have the runtime', async () => {
    const missingDigest = `${registry.address}/runtimes/node@sha256:${'0'.repeat(64)}`
    await using configured = await openDockerBench('auto', { imageReferences: { node: missingDigest } })
    expect(configured.image.id).toBe(bench.image.id)
  })

  it('are IMAGE_UNAVAILABLE where a package names one that is not there', async () => {
    for (const reference of [`${registry.address}/no/such:1`, '127.0.0.1:1/nobody/listens:1']) {
      const prepared = bench.driver.prepareImage({ reference }, plainContext())
      await expect(prepared).rejects.toMatchObject({ code: 'IMAGE_UNAVAILABLE', message: expect.stringContaining(reference) })
    }
  })
})
