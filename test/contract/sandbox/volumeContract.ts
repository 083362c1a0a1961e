import { expect, it } from 'vitest'
import type { ContractKit } from './contractKit.ts'
import { readLine } from './eventWitness.ts'

export function volumeContract({ bench, start }: ContractKit): void {
  it('a volume is made once, kept over sandboxes, listed and removed', async () => {
    const { driver, confines } = bench()
    const volume = await driver.volumes.ensure('keeper', 210_000)
    expect(await driver.volumes.ensure('keeper', 210_000)).toEqual(volume)
    expect((await driver.volumes.list()).map(({ packageId }) => packageId)).toContain('keeper')
    const handle = await start(['look'], { data: volume }).catch((error: unknown) => {
      if (confines) throw error
      return undefined
    })
    if (handle && confines) {
      const channel = await driver.stdio(handle)
      channel.write('now\n')
      expect(JSON.parse(await readLine(channel))).toMatchObject({ write: { '/data/x': 'done' } })
      await driver.destroy(handle)
      expect((await driver.volumes.list()).map(({ packageId }) => packageId)).toContain('keeper')
    }
    await driver.volumes.remove('keeper')
    await driver.volumes.remove('keeper')
    expect((await driver.volumes.list()).map(({ packageId }) => packageId)).not.toContain('keeper')
  })
}
