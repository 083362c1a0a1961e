import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missing } from '../../provision/requirements.ts'
import { openDockerBench } from '../sandbox/dockerBench.ts'
import { type DriverBench, plainContext, toLaunchSpec } from '../sandbox/driverBench.ts'
import { readLine } from '../sandbox/eventWitness.ts'

const reason = await missing('docker', 'root')

describe.skipIf(reason !== null)(`the user of a package in its container${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  let bench: DriverBench
  beforeAll(async () => {
    bench = await openDockerBench('auto')
  }, 300_000)
  afterAll(() => bench[Symbol.asyncDispose]())

  it('has a name and a home, for programs that ask', async () => {
    const { handle } = await bench.driver.launch(toLaunchSpec(bench, 'who', bench.command('look')), plainContext())
    const channel = await bench.driver.stdio(handle)
    channel.write('now\n')
    expect(JSON.parse(await readLine(channel))).toMatchObject({ user: 'pkgd /tmp' })
    await bench.driver.destroy(handle)
  })
})
