import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import type { SandboxHandle } from '../../../sandbox/sandboxDriver.ts'
import { adoptionContract } from './adoptionContract.ts'
import { buildContract } from './buildContract.ts'
import { channelContract } from './channelContract.ts'
import { confinementContract } from './confinementContract.ts'
import type { ContractKit } from './contractKit.ts'
import { type DriverBench, plainContext, toLaunchSpec } from './driverBench.ts'
import { endContract } from './endContract.ts'
import { launchContract } from './launchContract.ts'
import { networkContract } from './networkContract.ts'
import { observationContract } from './observationContract.ts'
import { volumeContract } from './volumeContract.ts'

/** Every promise of sandboxDriver.ts, on one driver. */
export function sandboxDriverContract(name: string, open: () => Promise<DriverBench>): void {
  describe(`the sandbox driver contract: ${name}`, () => {
    let opened: DriverBench | undefined
    const started: SandboxHandle[] = []
    const bench = () => {
      if (!opened) throw new Error('The bench is not open')
      return opened
    }
    const kit: ContractKit = {
      bench,
      async start([program, ...args], changes) {
        const command = bench().command(program, ...args)
        const { handle } = await bench().driver.launch(toLaunchSpec(bench(), `contract-${program}`, command, changes), plainContext())
        started.push(handle)
        return handle
      },
    }

    beforeAll(async () => {
      opened = await open()
    }, 300_000)
    afterEach(async () => {
      for (const handle of started.splice(0)) await bench().driver.destroy(handle)
    })
    afterAll(async () => {
      const left = await bench().traces()
      await bench()[Symbol.asyncDispose]()
      expect(left).toEqual([])
    })

    launchContract(kit)
    endContract(kit)
    observationContract(kit)
    channelContract(kit)
    adoptionContract(kit)
    buildContract(kit)
    volumeContract(kit)
    confinementContract(kit)
    networkContract(kit)
  })
}
