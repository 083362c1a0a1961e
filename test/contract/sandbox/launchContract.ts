import { describe, expect, it } from 'vitest'
import type { LimitReading } from '../../../sandbox/sandboxDriver.ts'
import type { ContractKit } from './contractKit.ts'
import { plainContext, toLaunchSpec } from './driverBench.ts'

export function launchContract({ bench, start }: ContractKit): void {
  describe('launch', () => {
    it('starts the command and reports what it is held to', async () => {
      const { driver, image } = bench()
      const handle = await start(['echo'])
      const report = await driver.inspect(handle)
      expect(report).toMatchObject({
        readOnlyRoot: true,
        capabilities: [],
        noNewPrivileges: true,
        seccomp: true,
        init: true,
        network: 'none',
      })
      expect(report.user).toBe('210000:210000')
      expect(report.image).toBe(image.id)
      expect(Object.values(report.limits).map(({ enforced }) => enforced)).toEqual([true, true, true, true])
    })

    it.each([
      { memoryBytes: 64 << 20, cpus: 0.25, pids: 32, tmpBytes: 4 << 20 },
      { memoryBytes: 256 << 20, cpus: 1.5, pids: 200, tmpBytes: 64 << 20 },
    ])('reads back what was asked: %o', async (limits) => {
      const handle = await start(['echo'], { limits })
      const { limits: read } = await bench().driver.inspect(handle)
      // The kernel of an engine on another machine is out of reach but for what that engine measures.
      const reachable = ({ effective, engine }: LimitReading) => (bench().capabilities.localMounts ? effective : engine)
      expect({
        memoryBytes: read.memory.effective,
        cpus: reachable(read.cpu),
        pids: read.pids.effective,
        tmpBytes: reachable(read.tmp),
      }).toEqual(limits)
      expect(read.memory.asked).toBe(limits.memoryBytes)
    })

    it('refuses a command that is not in the image, and leaves nothing', async () => {
      const before = await bench().traces()
      const spec = toLaunchSpec(bench(), 'missing', ['no-such-program', '--flag'])
      await expect(bench().driver.launch(spec, plainContext())).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' })
      expect(await bench().traces()).toEqual(before)
    })

    it('stops at its signal, and leaves nothing', async () => {
      const before = await bench().traces()
      const stop = new AbortController()
      const spec = toLaunchSpec(bench(), 'cancelled', bench().command('echo'))
      const launch = bench().driver.launch(spec, { signal: stop.signal, progress: () => stop.abort(new Error('cancelled by the test')) })
      stop.abort(new Error('cancelled by the test'))
      await expect(launch).rejects.toThrow('cancelled by the test')
      expect(await bench().traces()).toEqual(before)
    })

    it('refuses a network that it cannot enforce', async () => {
      const { driver, capabilities } = bench()
      for (const mode of ['internet', 'allow'] as const) {
        if (capabilities.network.includes(mode)) continue
        expect(capabilities.networkRefused[mode]).toMatch(/./)
        const network = mode === 'allow' ? { mode, targets: [{ host: 'api.example.com', port: 443 }] } : { mode }
        const spec = toLaunchSpec(bench(), 'refused', bench().command('echo'), { network })
        await expect(driver.launch(spec, plainContext())).rejects.toMatchObject({ code: 'NETWORK_UNSUPPORTED' })
      }
    })

    it('prepares the same image again from its cache', async () => {
      const again = await bench().driver.prepareImage(bench().request, plainContext())
      expect(again).toMatchObject({ id: bench().image.id, origin: 'cached', runtimes: bench().image.runtimes })
    })
  })
}
