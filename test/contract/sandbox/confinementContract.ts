import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SandboxHandle } from '../../../sandbox/sandboxDriver.ts'
import type { ContractKit } from './contractKit.ts'
import { plainContext, toLaunchSpec } from './driverBench.ts'
import { readLine, witnessEvents } from './eventWitness.ts'

/** What a package can see, do and take: for drivers whose sandboxes are real processes. */
export function confinementContract({ bench, start }: ContractKit): void {
  const look = async (handle: SandboxHandle) => {
    const channel = await bench().driver.stdio(handle)
    channel.write('now\n')
    return JSON.parse(await readLine(channel))
  }

  describe('inside', () => {
    it('a package has nothing but what it was given', async ({ skip }) => {
      if (!bench().confines) skip('sandboxes of this driver are functions')
      await using server = await listenHere()
      const handle = await start(['look', '127.0.0.1', String(server.port)], { env: { WORD: "it's $HOME", EMPTY: '' } })
      const facts = await look(handle)
      expect(facts).toMatchObject({
        uid: 210_000,
        ...(bench().capabilities.localMounts && { user: 'pkgd /tmp' }),
        gid: 210_000,
        cwd: '/app',
        home: '/tmp',
        env: { WORD: "it's $HOME", EMPTY: '' },
        noNewPrivileges: '1',
        seccomp: '2',
        write: {
          '/x': 'EROFS',
          '/app/x': 'EROFS',
          '/etc/x': 'EROFS',
          '/usr/x': 'EROFS',
          '/run/pkgd/x': 'EROFS',
          '/tmp/x': 'done',
        },
        tmpMode: 0o1777,
      })
      expect(facts.groups.filter((group: number) => group !== 210_000)).toEqual([])
      expect(facts.capabilities).toEqual(['0000000000000000', '0000000000000000', '0000000000000000'])
      expect(facts.removePipe).toMatch(/EROFS|ENOENT|EACCES/)
      expect(facts.interfaces.filter((name: string) => name !== 'lo')).toEqual([])
      expect(facts.reach).toBe('ECONNREFUSED')
      expect(facts.lookup).toMatch(/ENOTFOUND|EAI_AGAIN/)
      expect(server.connections()).toBe(0)
    })

    it('a package has the descriptors 0, 1 and 2 alone', async ({ skip }) => {
      if (!bench().confines) skip('sandboxes of this driver are functions')
      const list = 'read _; cd /proc/$$/fd; for fd in *; do [ -L "$fd" ] && printf "%s " "$fd"; done; echo; cat'
      const spec = toLaunchSpec(bench(), 'contract-descriptors', ['sh', '-c', list])
      const { handle } = await bench().driver.launch(spec, plainContext())
      const channel = await bench().driver.stdio(handle)
      channel.write('now\n')
      const descriptors = await readLine(channel)
      await bench().driver.destroy(handle)
      expect(descriptors.trim()).toBe('0 1 2')
    })

    it('what the kernel tells of the host is not told', async ({ skip }) => {
      if (!bench().confines) skip('sandboxes of this driver are functions')
      const { hidden } = await look(await start(['look']))
      for (const [path, told] of Object.entries(hidden))
        expect([path, told]).toEqual([path, expect.stringMatching(/^(done)?$|^(ENOENT|EACCES|EPERM)$/)])
    })

    it('what is unpacked to /tmp may run', async ({ skip }) => {
      if (!bench().confines) skip('sandboxes of this driver are functions')
      const facts = await look(await start(['look']))
      expect([facts.runsFromTmp, facts.loadsFromTmp]).toEqual(['ran', 'loaded'])
    })

    it('shared memory is no larger than /tmp', async ({ skip }) => {
      if (!bench().confines) skip('sandboxes of this driver are functions')
      const facts = await look(await start(['look'], { limits: { memoryBytes: 128 << 20, cpus: 1, pids: 64, tmpBytes: 4 << 20 } }))
      expect(facts.sharedMemory).toMatchObject({ code: 'ENOSPC' })
      expect(facts.sharedMemory.written).toBeLessThanOrEqual(4 << 20)
    })

    it('/tmp is as large as asked', async ({ skip }) => {
      if (!bench().confines) skip('sandboxes of this driver are functions')
      const facts = await look(await start(['look'], { limits: { memoryBytes: 128 << 20, cpus: 1, pids: 64, tmpBytes: 4 << 20 } }))
      expect(facts.tmp.code).toBe('ENOSPC')
      expect(facts.tmp.written).toBeLessThanOrEqual(4 << 20)
      expect(facts.tmp.written).toBeGreaterThan(3 << 20)
    })

    it.each([true, false])('a mount is where it was granted, read-only: %s', async (readOnly) => {
      if (!bench().confines || !bench().capabilities.localMounts) return
      const source = await bench().directory()
      const facts = await look(await start(['look'], { mounts: [{ source, target: '/granted', readOnly }] }))
      expect(facts.write['/granted/x']).toBe(readOnly ? 'EROFS' : 'done')
    })

    it('no mount covers a part of the sandbox, and one that is not there is refused', async ({ skip }) => {
      if (!bench().confines || !bench().capabilities.localMounts) skip('this driver mounts nothing')
      const before = await bench().traces()
      const source = await bench().directory()
      const mounts = [
        { source, target: '/app', readOnly: true },
        { source, target: '/run', readOnly: true },
        { source, target: '/proc/self', readOnly: true },
        { source, target: '/', readOnly: true },
        { source, target: '/etc/passwd', readOnly: true },
        { source: `${source}/missing`, target: '/granted', readOnly: true },
        { source: '/', target: '/granted', readOnly: true },
        { source: '/proc', target: '/granted', readOnly: true },
        ...bench().capabilities.ownPlaces.map((own) => ({ source: own, target: '/granted', readOnly: true })),
      ]
      for (const mount of mounts) {
        const spec = toLaunchSpec(bench(), 'mounted', bench().command('echo'), { mounts: [mount] })
        await expect(bench().driver.launch(spec, plainContext())).rejects.toMatchObject({ code: 'MOUNT_REFUSED' })
      }
      expect(await bench().traces()).toEqual(before)
    })

    it('a source that a package has put a link in place of is refused', async ({ skip }) => {
      if (!bench().confines || !bench().capabilities.localMounts) skip('this driver mounts nothing')
      const parent = await bench().directory()
      const source = join(parent, 'inner', 'docs')
      await mkdir(source, { recursive: true, mode: 0o777 })
      await chmod(parent, 0o777)
      await chmod(join(parent, 'inner'), 0o777)
      const mounts = [{ source, target: '/granted', readOnly: true }]
      await start(['echo'], { mounts })
      const before = await bench().traces()
      const swap = "const fs = require('node:fs'); fs.rmSync('/all/inner', { recursive: true }); fs.symlinkSync('/', '/all/inner')"
      for (const script of [swap.replaceAll('inner', 'inner/docs'), swap]) {
        const command = ['node', '-e', `${script}; console.log('swapped'); setInterval(() => {}, 1000)`]
        const spec = toLaunchSpec(bench(), 'swapper', command, { mounts: [{ source: parent, target: '/all', readOnly: false }] })
        const { handle } = await bench().driver.launch(spec, plainContext())
        expect(await readLine(await bench().driver.stdio(handle))).toBe('swapped')
        await bench().driver.destroy(handle)
        const swapped = toLaunchSpec(bench(), 'mounted', bench().command('echo'), { mounts })
        await expect(bench().driver.launch(swapped, plainContext())).rejects.toMatchObject({ code: 'MOUNT_REFUSED' })
      }
      expect(await bench().traces()).toEqual(before)
    })

    it('a source that changes all the time is what was granted, or refused', async ({ skip }) => {
      if (!bench().confines || !bench().capabilities.localMounts) skip('this driver mounts nothing')
      const parent = await bench().directory()
      await mkdir(join(parent, 'docs', 'granted'), { recursive: true, mode: 0o755 })
      await mkdir(join(parent, 'other', 'foreign'), { recursive: true, mode: 0o755 })
      const script = `cd "$0"; while :; do mv docs kept; ln -s other docs; rm docs; mv kept docs; done`
      const swapper = spawn('/bin/sh', ['-c', script, parent], { stdio: 'ignore' })
      const ended = once(swapper, 'exit')
      try {
        for (let attempt = 0; attempt < 10; attempt++) {
          const mounts = [{ source: join(parent, 'docs'), target: '/granted', readOnly: true }]
          const spec = toLaunchSpec(bench(), 'mounted', ['sh', '-c', 'ls /granted; cat'], { mounts })
          // Where it is refused, and by whom, is a matter of the moment.
          const launched = await bench()
            .driver.launch(spec, plainContext())
            .catch(() => null)
          if (launched === null) continue
          expect(await readLine(await bench().driver.stdio(launched.handle))).toBe('granted')
          await bench().driver.destroy(launched.handle)
        }
      } finally {
        swapper.kill('SIGKILL')
        await ended
      }
    })

    it('processes are counted', async ({ skip }) => {
      if (!bench().confines) skip('sandboxes of this driver are functions')
      const handle = await start(['count', '500'], { limits: { memoryBytes: 256 << 20, cpus: 1, pids: 40, tmpBytes: 1 << 20 } })
      const { started } = JSON.parse(await readLine(await bench().driver.stdio(handle)))
      expect(started).toBeGreaterThan(5)
      expect(started).toBeLessThan(40)
      expect((await bench().driver.stats(handle)).pids).toBeLessThanOrEqual(40)
    })

    it.each(['SIGSEGV', 'SIGABRT', 'SIGKILL'])('a death by %s is told as that', async (signal) => {
      if (!bench().confines) return
      await using witness = witnessEvents(bench().driver)
      const handle = await start(['raise', signal])
      const channel = await bench().driver.stdio(handle)
      channel.write('now\n')
      expect((await witness.about(handle, 'exited')).exit).toMatchObject({ kind: 'signal', signal })
    })

    it('no value of its env is in its configuration', async () => {
      const secret = `secret-${'a1b2c3'.repeat(4)}`
      const handle = await start(['echo'], { env: { API_KEY: secret, OTHER: `x${secret}y` } })
      const configuration = await bench().configuration(handle)
      expect(configuration).toContain(handle.name)
      expect(configuration).not.toContain(secret)
    })
  })
}

/** A server of this host's on loopback, where no sandbox may get. */
async function listenHere() {
  let connections = 0
  const server = createServer((connection) => {
    connections += 1
    connection.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The test server has no port')
  return {
    port: address.port,
    connections: () => connections,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
