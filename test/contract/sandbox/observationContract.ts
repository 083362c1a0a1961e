import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { SandboxHandle } from '../../../sandbox/sandboxDriver.ts'
import type { ContractKit } from './contractKit.ts'
import { readAll, readLine, readLogUntil, witnessEvents } from './eventWitness.ts'

export function observationContract({ bench, start }: ContractKit): void {
  describe('events', () => {
    it('tell a whole life in its order', async () => {
      const { driver, capabilities } = bench()
      await using witness = witnessEvents(driver)
      const handle = await start(['echo'])
      if (capabilities.freeze) {
        await driver.freeze(handle)
        await driver.thaw(handle)
      }
      await driver.stop(handle, 5_000)
      await driver.destroy(handle)
      await witness.about(handle, 'destroyed')
      const kinds = witness.seen.filter((event) => 'handle' in event && event.handle.id === handle.id).map(({ kind }) => kind)
      expect(kinds).toEqual(['started', ...(capabilities.freeze ? ['frozen', 'thawed'] : []), 'exited', 'destroyed'])
    })

    it('begin at the call, not at the first read', async () => {
      const { driver } = bench()
      const stop = new AbortController()
      const events = driver.events(stop.signal)
      const handle = await start(['exit', '7'])
      for await (const event of events) {
        if (event.kind === 'exited' && event.handle.id === handle.id) break
      }
      stop.abort()
    })

    it('end at their signal', async () => {
      const stop = new AbortController()
      const reading = readAll(bench().driver.events(stop.signal))
      await sleep(50)
      stop.abort()
      await expect(reading).resolves.toEqual([])
    })
  })

  describe('logs', () => {
    const texts = async (handle: SandboxHandle, tail?: number) => {
      const query = { follow: false, signal: AbortSignal.timeout(20_000), ...(tail !== undefined && { tail }) }
      return (await readAll(bench().driver.logs(handle, query))).map(({ line }) => line.trimEnd())
    }

    it('have stderr, line by line, with the time', async () => {
      const { driver } = bench()
      const handle = await start(['talk', '5'])
      const entries = await readLogUntil(driver, handle, (_, count) => count === 5)
      expect(entries.map(({ stream, line }) => [stream, line.trimEnd()])).toEqual(
        [1, 2, 3, 4, 5].map((number) => ['stderr', `line ${number}`]),
      )
      for (const { time } of entries) expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000)
      expect(await texts(handle, 2)).toEqual(['line 4', 'line 5'])
    })

    it('begin with the last lines and go on', async () => {
      const { driver } = bench()
      const handle = await start(['talk', '4'])
      await readLogUntil(driver, handle, (_, count) => count === 4)
      const channel = await driver.stdio(handle)
      const stop = new AbortController()
      const lines: string[] = []
      for await (const { line } of driver.logs(handle, { follow: true, tail: 2, signal: stop.signal })) {
        lines.push(line.trimEnd())
        if (lines.length === 2) channel.write('again\n')
        if (lines.length === 3) stop.abort()
      }
      expect(lines).toEqual(['line 3', 'line 4', 'line 5'])
    })

    it('have a line of any length whole', async () => {
      const { driver } = bench()
      const handle = await start(['talk', '2', '100000'])
      const entries = await readLogUntil(driver, handle, (_, count) => count === 2)
      expect(entries.map(({ line }) => line.length)).toEqual([100_000, 100_000])
    })

    it('can be followed to the end', async () => {
      const { driver } = bench()
      const handle = await start(['talk', '1'])
      const channel = await driver.stdio(handle)
      const entries = driver.logs(handle, { follow: true, signal: AbortSignal.timeout(30_000) })
      const lines: string[] = []
      for await (const { line } of entries) {
        lines.push(line.trimEnd())
        if (lines.length < 3) channel.write('again\n')
        else void driver.stop(handle, 5_000)
      }
      expect(lines).toEqual(['line 1', 'line 2', 'line 3'])
    })

    it('stop being followed at their signal', async () => {
      const { driver } = bench()
      const handle = await start(['talk', '1'])
      const stop = new AbortController()
      const lines: string[] = []
      for await (const { line } of driver.logs(handle, { follow: true, signal: stop.signal })) {
        lines.push(line.trimEnd())
        stop.abort()
      }
      expect(lines).toEqual(['line 1'])
    })

    it('are bounded, and keep the newest', async () => {
      const { driver } = bench()
      const logBytes = 64 * 1024
      const handle = await start(['talk', '4000', '100'], { logBytes })
      await readLogUntil(driver, handle, ({ line }) => line.startsWith('line 4000 '))
      const lines = await texts(handle)
      expect(lines.at(-1)).toMatch(/^line 4000 /)
      expect(lines.length).toBeGreaterThan(50)
      expect(lines.join('\n').length).toBeLessThanOrEqual(logBytes)
    })
  })

  it('stats say what is used', async () => {
    const { driver, confines } = bench()
    const handle = await start(['echo'])
    const channel = await driver.stdio(handle)
    channel.write('awake\n')
    await readLine(channel)
    const stats = await driver.stats(handle)
    expect(stats.memoryLimitBytes).toBe(128 << 20)
    expect(stats.pids).toBeGreaterThan(0)
    expect(stats.pids).toBeLessThanOrEqual(64)
    if (!confines) return
    expect(stats.memoryBytes).toBeGreaterThan(1 << 20)
    expect(stats.memoryBytes).toBeLessThan(128 << 20)
    expect(stats.cpuSeconds).toBeGreaterThan(0)
  })
}
