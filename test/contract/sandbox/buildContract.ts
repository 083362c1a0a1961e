import { readFile, watch, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { ContractKit } from './contractKit.ts'
import { plainContext } from './driverBench.ts'
import { witnessEvents } from './eventWitness.ts'

export function buildContract({ bench }: ContractKit): void {
  const spec = (command: readonly string[], changes = {}) => ({
    identity: { daemon: bench().daemonId, packageId: 'contract-build', version: '1.0.0', spec: 'contract' },
    image: bench().image,
    command,
    env: {},
    uid: 210_001,
    limits: { memoryBytes: 128 << 20, cpus: 1, pids: 64, tmpBytes: 16 << 20 },
    mounts: [],
    reach: [],
    ...changes,
  })
  const withPrograms = async () => {
    const source = await bench().directory()
    return { source, target: '/work', readOnly: false }
  }

  describe('runToEnd', () => {
    it('gives the exit and the output, and leaves nothing', async ({ skip }) => {
      if (!bench().confines) skip('builds of this driver are functions')
      const before = await bench().traces()
      const command = ['node', '-e', 'console.log("out"); console.error("err"); process.exitCode = 3']
      const { exit, output } = await bench().driver.runToEnd(spec(command), plainContext())
      expect(exit).toMatchObject({ kind: 'exit', code: 3 })
      expect(output.split('\n').filter(Boolean).sort()).toEqual(['err', 'out'])
      expect(await bench().traces()).toEqual(before)
    })

    it('may write where it was let, as its user, and has its env', async ({ skip }) => {
      if (!bench().confines || !bench().capabilities.localMounts) skip('builds of this driver mount nothing')
      const mount = await withPrograms()
      const script =
        'require("fs").writeFileSync("/work/made", [process.getuid(), process.env.WORD, require("fs").readFileSync("/work/hello")].join(" "))'
      const changes = { env: { WORD: 'spoken' }, mounts: [mount] }
      const { exit } = await bench().driver.runToEnd(spec(['node', '-e', script], changes), plainContext())
      expect(exit).toMatchObject({ kind: 'exit', code: 0 })
      expect(await readFile(`${mount.source}/made`, 'utf8')).toBe('210001 spoken from the host')
    })

    it('keeps the last of a long output', async ({ skip }) => {
      if (!bench().confines) skip('builds of this driver are functions')
      const command = ['node', '-e', 'for (let i = 1; i <= 20000; i++) console.log("line " + i)']
      const { output } = await bench().driver.runToEnd(spec(command), plainContext())
      expect(output.length).toBeLessThanOrEqual(64 * 1024)
      expect(output.trimEnd()).toMatch(/line 19999\nline 20000$/)
    })

    it('is killed by its memory limit, and says so', async ({ skip }) => {
      if (!bench().confines) skip('builds of this driver are functions')
      const command = ['node', '-e', 'const held = []; setInterval(() => held.push(Buffer.alloc(8 << 20, 1)), 1)']
      const limits = { memoryBytes: 64 << 20, cpus: 1, pids: 64, tmpBytes: 1 << 20 }
      expect((await bench().driver.runToEnd(spec(command, { limits }), plainContext())).exit).toMatchObject({ kind: 'oom' })
    })

    it('ends at its signal, and leaves nothing', async ({ skip }) => {
      if (!bench().confines || !bench().capabilities.localMounts) skip('builds of this driver mount nothing')
      const before = await bench().traces()
      const stop = new AbortController()
      const mount = await withPrograms()
      const script = 'require("fs").writeFileSync("/work/begun", ""); setInterval(() => {}, 1000)'
      const build = bench().driver.runToEnd(spec(['node', '-e', script], { mounts: [mount] }), {
        signal: stop.signal,
        progress: () => undefined,
      })
      for await (const { filename } of watch(mount.source)) if (filename === 'begun') break
      stop.abort(new Error('cancelled by the test'))
      await expect(build).rejects.toThrow('cancelled by the test')
      expect(await bench().traces()).toEqual(before)
    })

    it('refuses a command that is not there', async ({ skip }) => {
      if (!bench().confines) skip('builds of this driver are functions')
      await expect(bench().driver.runToEnd(spec(['no-such-program']), plainContext())).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' })
    })

    it('is never listed nor told of', async ({ skip }) => {
      if (!bench().confines || !bench().capabilities.localMounts) skip('builds of this driver mount nothing')
      const { driver } = bench()
      await using witness = witnessEvents(driver)
      const mount = await withPrograms()
      const script =
        'const fs = require("fs"); fs.writeFileSync("/work/begun", ""); setInterval(() => fs.existsSync("/work/go") && process.exit(0), 20)'
      const build = driver.runToEnd(spec(['node', '-e', script], { mounts: [mount] }), plainContext())
      for await (const { filename } of watch(mount.source)) if (filename === 'begun') break
      expect(await driver.list()).toEqual([])
      await writeFile(`${mount.source}/go`, '')
      await build
      expect(witness.seen).toEqual([])
    })
  })
}
