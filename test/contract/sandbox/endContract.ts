import { describe, expect, it } from 'vitest'
import type { ContractKit } from './contractKit.ts'
import { readLine, readLogUntil, witnessEvents } from './eventWitness.ts'

export function endContract({ bench, start }: ContractKit): void {
  describe('the end', () => {
    it.each([0, 1, 3, 42])('is told with its exit code: %i', async (code) => {
      const { driver } = bench()
      await using witness = witnessEvents(driver)
      const handle = await start(['exit', String(code)])
      const { exit } = await witness.about(handle, 'exited')
      expect(exit).toMatchObject({ kind: 'exit', code })
      expect((await driver.recover(handle))?.status).toMatchObject({ state: 'exited', exit: { kind: 'exit', code } })
    })

    it('is the memory limit, when that was it', async () => {
      await using witness = witnessEvents(bench().driver)
      const handle = await start(['eat'], { limits: { memoryBytes: 64 << 20, cpus: 1, pids: 64, tmpBytes: 1 << 20 } })
      expect((await witness.about(handle, 'exited')).exit).toMatchObject({ kind: 'oom' })
      expect((await bench().driver.recover(handle))?.status).toMatchObject({ state: 'exited', exit: { kind: 'oom' } })
    })

    it('comes at SIGTERM', async () => {
      const { driver } = bench()
      const handle = await start(['echo'])
      expect(await driver.stop(handle, 10_000)).toMatchObject({ kind: 'signal', signal: 'SIGTERM' })
    })

    it('comes after the grace for who ignores SIGTERM, and is told as SIGKILL', async () => {
      const { driver } = bench()
      await using witness = witnessEvents(driver)
      const handle = await start(['deaf'])
      const channel = await driver.stdio(handle)
      expect(await readLine(channel)).toBe('deaf')
      expect(await driver.stop(handle, 300)).toMatchObject({ kind: 'signal', signal: 'SIGKILL' })
      expect((await witness.about(handle, 'exited')).exit).toMatchObject({ kind: 'signal', signal: 'SIGKILL' })
      const lines = await readLogUntil(driver, handle, ({ line }) => line === 'SIGTERM ignored')
      expect(lines.map(({ line }) => line)).toContain('SIGTERM ignored')
    })

    it('may already be there when it is asked for', async () => {
      const { driver } = bench()
      await using witness = witnessEvents(driver)
      const handle = await start(['exit', '5'])
      await witness.about(handle, 'exited')
      expect(await driver.stop(handle, 1_000)).toMatchObject({ kind: 'exit', code: 5 })
    })

    it('is told of each of those that are over as soon as they run', async () => {
      await using witness = witnessEvents(bench().driver)
      const handles = await Promise.all([3, 4, 5, 6].map((code) => start(['exit', String(code)])))
      const exits = await Promise.all(handles.map((handle) => witness.about(handle, 'exited')))
      expect(exits.map(({ exit }) => exit)).toMatchObject([3, 4, 5, 6].map((code) => ({ kind: 'exit', code })))
    })

    it('leaves nothing after destroy, which may be said twice and to what runs', async () => {
      const { driver } = bench()
      const before = await bench().traces()
      const handle = await start(['echo'])
      await driver.destroy(handle)
      await driver.destroy(handle)
      expect(await bench().traces()).toEqual(before)
      expect(await driver.recover(handle)).toBeUndefined()
      await expect(driver.inspect(handle)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
      await expect(driver.stop(handle, 100)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
    })
  })
}
