import { describe, expect, it } from 'vitest'
import type { ContractKit } from './contractKit.ts'
import { readLine, readLogUntil, witnessEvents } from './eventWitness.ts'

export function adoptionContract({ bench, start }: ContractKit): void {
  describe('after the death of the daemon', () => {
    it('the next one finds the sandbox, its identity and its report, and goes on talking', async () => {
      const handle = await start(['echo'])
      const channel = await bench().driver.stdio(handle)
      channel.write('before\n')
      await readLine(channel)
      const report = await bench().driver.inspect(handle)
      await bench().nextDaemon()
      const { driver, daemonId } = bench()
      const listed = await driver.list()
      expect(listed.map((info) => info.handle)).toEqual([handle])
      expect(listed[0]).toMatchObject({
        identity: { daemon: daemonId, packageId: 'contract-echo', version: '1.0.0', spec: 'contract' },
        status: { state: 'running' },
      })
      expect(await driver.recover(handle)).toEqual(listed[0])
      expect(await driver.inspect(handle)).toEqual(report)
      const again = await driver.stdio(handle)
      again.write('after\n')
      expect(await readLine(again)).toBe('after')
    })

    it('the next one learns of an end that nobody watched', async () => {
      await using witness = witnessEvents(bench().driver)
      const handle = await start(['exit', '9'])
      await witness.about(handle, 'exited')
      await bench().nextDaemon()
      const listed = await bench().driver.list()
      expect(listed.map(({ status }) => status)).toMatchObject([{ state: 'exited', exit: { kind: 'exit', code: 9 } }])
    })

    it('the next one follows logs and events of it', async () => {
      const handle = await start(['talk', '2'])
      await bench().nextDaemon()
      const { driver } = bench()
      await using witness = witnessEvents(driver)
      const lines = await readLogUntil(driver, handle, (_, count) => count === 2)
      expect(lines.map(({ line }) => line.trimEnd())).toEqual(['line 1', 'line 2'])
      await driver.stop(handle, 5_000)
      expect((await witness.about(handle, 'exited')).exit).toMatchObject({ kind: 'signal', signal: 'SIGTERM' })
    })
  })

  it("what is not this daemon's is neither seen nor touched", async ({ skip }) => {
    const { driver, foreign } = bench()
    if (!foreign) return skip('this driver keeps no sandboxes of others')
    await using other = await foreign()
    expect(await driver.list()).toEqual([])
    expect(await driver.recover(other.handle)).toBeUndefined()
    await expect(driver.stop(other.handle, 0)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
    await expect(driver.stdio(other.handle)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
    await driver.destroy(other.handle)
    expect(await other.isUntouched()).toBe(true)
  })
}
