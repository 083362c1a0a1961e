import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { openCgroups } from '../../../../sandbox/confinement/cgroups.ts'
import { readKernel, unreadKernel } from '../../../../sandbox/confinement/kernelReading.ts'
import { readKernelUsage } from '../../../../sandbox/confinement/kernelUsage.ts'

describe.skipIf(process.platform !== 'linux')('a process that has ended', () => {
  it('has no reading, rather than that of the root', async () => {
    const child = spawn('sleep', ['60'])
    await once(child, 'spawn')
    const pid = child.pid ?? 0
    const cgroups = await openCgroups(pid)
    expect(await cgroups.isUnmoved()).toBe(true)
    expect((await readKernel(pid)).user).toBe(`${process.getuid?.()}:${process.getgid?.()}`)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await cgroups.isUnmoved()).toBe(false)
    expect(await readKernel(pid)).toEqual(unreadKernel)
    expect(await readKernelUsage(pid)).toBeNull()
  })
})
