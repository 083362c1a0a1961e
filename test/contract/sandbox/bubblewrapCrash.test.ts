import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCgroupTree } from '../../../sandbox/bubblewrap/cgroup.ts'
import { isAlive } from '../../../sandbox/bubblewrap/processIdentity.ts'
import { type LiveRecord, readRecord, runFile } from '../../../sandbox/bubblewrap/sandboxRecord.ts'
import { encodeFilter, pickFilterArchitecture, toSeccompFilter } from '../../../sandbox/bubblewrap/seccompFilter.ts'
import type { SandboxHandle } from '../../../sandbox/sandboxDriver.ts'
import { missing } from '../../provision/requirements.ts'
import { type BubblewrapBench, openBubblewrapBench } from './bubblewrapBench.ts'
import { plainContext, toLaunchSpec } from './driverBench.ts'
import { readLine, witnessEvents } from './eventWitness.ts'

const reason = await missing('bubblewrap', 'netns')

describe.skipIf(reason !== null)(`bubblewrap, when something is killed${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  let bench: BubblewrapBench
  beforeAll(async () => {
    bench = await openBubblewrapBench()
  }, 300_000)
  afterEach(async () => {
    for (const { handle } of await bench.driver.list()) await bench.driver.destroy(handle)
    expect(await bench.traces()).toEqual([])
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  const start = async (command: readonly string[]) =>
    (await bench.driver.launch(toLaunchSpec(bench, 'crash', command), plainContext())).handle
  const readLive = async ({ name }: SandboxHandle) => {
    const live = await readRecord<LiveRecord>(join(bench.run, name), runFile.live)
    if (!live?.box) throw new Error('it does not run')
    return { supervisor: live.supervisor, box: live.box }
  }

  it('a supervisor: its sandbox ends with it, and that is told', async () => {
    await using witness = witnessEvents(bench.driver)
    const handle = await start(bench.command('echo'))
    const { supervisor, box } = await readLive(handle)
    process.kill(supervisor.pid, 'SIGKILL')
    expect((await witness.about(handle, 'exited')).exit).toMatchObject({ kind: 'signal', signal: 'SIGKILL' })
    expect(await isAlive(box.main)).toBe(false)
    expect((await bench.driver.recover(handle))?.status).toMatchObject({ state: 'exited', exit: { signal: 'SIGKILL' } })
    expect(await bench.driver.stop(handle, 100)).toMatchObject({ kind: 'signal', signal: 'SIGKILL' })
  })

  it('a supervisor while no daemon lives: the next one says so', async () => {
    const handle = await start(bench.command('echo'))
    await bench.nextDaemon()
    const { supervisor } = await readLive(handle)
    process.kill(supervisor.pid, 'SIGKILL')
    const listed = await bench.driver.list()
    expect(listed).toMatchObject([{ handle, status: { state: expect.stringMatching(/running|exited/) } }])
    expect(await bench.driver.stop(handle, 100)).toMatchObject({ kind: 'signal', signal: 'SIGKILL' })
  })

  it("the sandbox's PID 1: everything in it ends", async () => {
    await using witness = witnessEvents(bench.driver)
    const handle = await start(bench.command('echo'))
    const { box } = await readLive(handle)
    process.kill(box.init.pid, 'SIGKILL')
    await witness.about(handle, 'exited')
    expect(await isAlive(box.main)).toBe(false)
  })

  it('a process that a package left behind does not outlive it', async () => {
    await using witness = witnessEvents(bench.driver)
    const script =
      "require('node:child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref(); setTimeout(() => process.exit(0), 50)"
    const handle = await start(['node', '-e', script])
    expect((await witness.about(handle, 'exited')).exit).toMatchObject({ kind: 'exit', code: 0 })
    const cgroup = await createCgroupTree(bench.daemonId).open(handle.name)
    expect(await cgroup.members()).toEqual([])
  })

  it('the daemon, with a package and a build: the package goes on, the next daemon removes what is left of the build', async () => {
    const daemon = spawn(process.execPath, [join(import.meta.dirname, 'bubblewrapDaemon.ts'), bench.root, bench.daemonId, bench.programs])
    const ended = once(daemon, 'exit')
    const read = async () => {
      const [line] = (await once(daemon.stdout, 'data')) as [Buffer]
      const handle = JSON.parse(line.toString()) as SandboxHandle
      await untilBuildRuns()
      return { handle, box: (await readLive(handle)).box }
    }
    const { handle, box } = await read().finally(async () => {
      daemon.kill('SIGKILL')
      await ended
    })

    await bench.nextDaemon()
    expect(await bench.driver.list()).toMatchObject([{ handle, status: { state: 'running' } }])
    expect(await isAlive(box.main)).toBe(true)
    const channel = await bench.driver.stdio(handle)
    channel.write('still here\n')
    expect(await readLine(channel)).toBe('still here')
    expect((await readdir(bench.run)).filter((name) => name.includes('-build-'))).toEqual([])
    expect((await createCgroupTree(bench.daemonId).list()).filter((name) => name.includes('-build-'))).toEqual([])
    expect((await bench.driver.inspect(handle)).limits.memory.enforced).toBe(true)
  })

  it('a daemon that was started with a file open: neither supervisor nor package has it', async () => {
    const opened = await open('/', 'r')
    const unlisted = Array.from({ length: 60 }, () => 'ignore' as const)
    const argv = [join(import.meta.dirname, 'bubblewrapDaemon.ts'), bench.root, bench.daemonId, bench.programs]
    const daemon = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore', ...unlisted, opened.fd] })
    const ended = once(daemon, 'exit')
    const look = async () => {
      if (!daemon.stdout) throw new Error('the daemon says nothing')
      const [line] = (await once(daemon.stdout, 'data')) as [Buffer]
      const { supervisor, box } = await readLive(JSON.parse(line.toString()) as SandboxHandle)
      const found = await Promise.all([daemon.pid ?? 0, supervisor.pid, box.init.pid, box.main.pid].map(readDescriptors))
      return found.map((links) => links.includes('/'))
    }
    const has = await look().finally(async () => {
      daemon.kill('SIGKILL')
      await ended
      await opened.close()
    })
    expect(has).toEqual([true, false, false, false])
    await bench.nextDaemon()
    await bench.driver.list()
  })

  /** What each open descriptor of a process leads to, as the process itself has it. */
  async function readDescriptors(pid: number): Promise<string[]> {
    const names = await readdir(`/proc/${pid}/fd`)
    return Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  }

  async function untilBuildRuns(): Promise<void> {
    const cgroups = createCgroupTree(bench.daemonId)
    for (let attempt = 0; attempt < 2000; attempt++) {
      const name = (await cgroups.list()).find((candidate) => candidate.includes('-build-'))
      const members = name === undefined ? [] : await (await cgroups.open(name)).members()
      const commands = await Promise.all(members.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
      if (commands.some((command) => command.startsWith('sleep'))) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error('the build does not run')
  }
})

const noFilter = pickFilterArchitecture(process.arch)
describe.skipIf(reason !== null || noFilter === undefined)('the system call filter, in the kernel', () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pkgd-filter-'))
    if (noFilter) await writeFile(join(directory, 'filter'), encodeFilter(toSeccompFilter(noFilter)))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  /** With every capability of root's, so that it is the filter that refuses. */
  const run = async (filtered: boolean, ...command: string[]) => {
    const filter = filtered ? '--seccomp 9' : ''
    const script = `exec 9<"$0/filter"; exec bwrap --unshare-pid --unshare-uts --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp --ro-bind ${process.execPath} ${process.execPath} --cap-add ALL ${filter} "$@"`
    return execa('bash', ['-c', script, directory, ...command], { reject: false })
  }

  it.each([
    ['mount', '-t', 'tmpfs', 'none', '/tmp'],
    ['umount', '-l', '/tmp'],
    ['unshare', '--net', 'true'],
    ['unshare', '--user', 'true'],
    ['nsenter', '--uts=/proc/self/ns/uts', 'true'],
    ['hostname', 'other'],
  ])('%s %s is refused, and was possible without it', async (...command) => {
    expect(await run(false, ...command)).toMatchObject({ exitCode: 0 })
    const { exitCode, stderr } = await run(true, ...command)
    expect(exitCode).not.toBe(0)
    expect(stderr).toMatch(/not permitted|denied|must be superuser|root/i)
  })

  it('lets ordinary programs run', async () => {
    expect(await run(true, process.execPath, '-e', "require('node:child_process').execSync('true'); console.log('fine')")).toMatchObject({
      exitCode: 0,
      stdout: 'fine',
    })
  })
})
