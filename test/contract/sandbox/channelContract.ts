import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ContractKit } from './contractKit.ts'
import { readLine, witnessEvents } from './eventWitness.ts'

export function channelContract({ bench, start }: ContractKit): void {
  describe('stdio', () => {
    it('carries lines both ways', async () => {
      const channel = await bench().driver.stdio(await start(['echo']))
      for (const line of ['one', 'two', 'x'.repeat(300_000)]) {
        channel.write(`${line}\n`)
        expect(await readLine(channel)).toBe(line)
      }
    })

    it('is one channel at a time, and the package outlives it', async () => {
      const { driver } = bench()
      const handle = await start(['echo'])
      const first = await driver.stdio(handle)
      await expect(driver.stdio(handle)).rejects.toMatchObject({ code: 'CONFLICT' })
      first.destroy()
      const second = await driver.stdio(handle)
      second.write('still here\n')
      expect(await readLine(second)).toBe('still here')
    })

    it('is not there for a sandbox that ended', async () => {
      const { driver } = bench()
      await using witness = witnessEvents(driver)
      const handle = await start(['exit', '0'])
      await witness.about(handle, 'exited')
      await expect(driver.stdio(handle)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
    })

    it('waits while the sandbox is frozen', async ({ skip }) => {
      const { driver, capabilities } = bench()
      if (!capabilities.freeze) skip('this driver does not freeze')
      const handle = await start(['echo'])
      const channel = await driver.stdio(handle)
      channel.write('before\n')
      await readLine(channel)
      await driver.freeze(handle)
      await driver.freeze(handle)
      expect((await driver.recover(handle))?.status.state).toBe('frozen')
      channel.write('during\n')
      const answer = readLine(channel)
      expect(await Promise.race([answer, sleep(300, 'nothing')])).toBe('nothing')
      await driver.thaw(handle)
      await driver.thaw(handle)
      expect((await driver.recover(handle))?.status.state).toBe('running')
      channel.write('after\n')
      expect(await answer).toBe('during')
      expect(await readLine(channel)).toBe('after')
    })

    it('a frozen sandbox can be stopped and destroyed', async ({ skip }) => {
      const { driver, capabilities } = bench()
      if (!capabilities.freeze) skip('this driver does not freeze')
      const stopped = await start(['echo'])
      await driver.freeze(stopped)
      expect(await driver.stop(stopped, 5_000)).toMatchObject({ kind: 'signal', signal: 'SIGTERM' })
      const destroyed = await start(['echo'])
      await driver.freeze(destroyed)
      await driver.destroy(destroyed)
      expect(await driver.recover(destroyed)).toBeUndefined()
    })
  })

  it('dial reaches where the package listens', async () => {
    const { driver } = bench()
    const handle = await start(['listen', '9001'])
    expect(await readLine(await driver.stdio(handle))).toBe('listening')
    const [one, two] = await Promise.all([driver.dial(handle, { port: 9001 }), driver.dial(handle, { port: 9001 })])
    one.write('first\n')
    two.write('second\n')
    expect(await Promise.all([readLine(one), readLine(two)])).toEqual(['first', 'second'])
    one.destroy()
    two.destroy()
  })
}
