import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, describe, expect, it } from 'vitest'
import { missing } from '../provision/requirements.ts'
import { createPackageFolder, nodeServer, serverProgram } from './packages.ts'
import { createTestHome } from './testHome.ts'

const reason = await missing('docker')
const rootReason = reason ?? (await missing('root'))
const pkgd = join(import.meta.dirname, '..', '..', 'bin', 'pkgd')

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

describe.skipIf(reason)(`a machine that fails [${reason}]`, () => {
  it('a port that is taken', async () => {
    const other = createServer()
    const port = await listen(other, 0)
    cleanups.push(async () => other.close())
    await using home = await createTestHome({ driver: 'docker', env: { PKGD_PORT: String(port) } })
    const started = await home.pkg(['daemon', 'start'])
    expect(started.stderr).toContain('error PORT_IN_USE: ')
    expect(started.stderr).toContain(String(port))
    expect(started.exitCode).toBe(1)
    expect(await readdir(home.path)).not.toContain('daemon.json')
    other.close()
    expect((await home.pkg(['daemon', 'start'])).exitCode).toBe(0)
  })

  it('two daemons on one home', async () => {
    await using home = await createTestHome({ driver: 'docker' })
    await home.pkg(['daemon', 'start'])
    const before = home.daemonPid()
    const second = await execa(pkgd, [], { env: { PKGD_HOME: home.path, PKGD_PORT: '0' }, reject: false })
    expect(second.stderr + second.stdout).toContain('DAEMON_ALREADY_RUNNING')
    expect(second.exitCode).toBe(1)
    expect(home.daemonPid()).toBe(before)
    expect((await home.pkg(['list'])).exitCode).toBe(0)
  })

  it('a damaged lockfile is set aside and reported, never overwritten', async () => {
    await using folder = await createPackageFolder()
    await using home = await createTestHome({ driver: 'docker' })
    await home.pkg(['install', await folder.write(nodeServer('one'), { 'server.mjs': serverProgram() })])
    await writeFile(join(home.path, 'pkgd.lock'), '{ damaged')
    const frozen = await home.pkg(['install', '--frozen'])
    expect(frozen.stderr).toContain('error LOCKFILE_DAMAGED: ')
    expect(frozen.exitCode).toBe(5)
    await home.pkg(['install', await folder.write(nodeServer('two'), { 'server.mjs': serverProgram() })])
    const aside = (await readdir(home.path)).filter((name) => name.startsWith('pkgd.lock.damaged-'))
    expect(aside).toHaveLength(1)
    expect(await readFile(join(home.path, aside[0] ?? ''), 'utf8')).toBe('{ damaged')
    const { packages } = JSON.parse(await readFile(join(home.path, 'pkgd.lock'), 'utf8')) as { packages: object }
    expect(Object.keys(packages)).toEqual(['one', 'two'])
    const doctor = await home.pkg(['doctor'])
    expect(doctor.stdout).toMatch(/^warning +lockfile: .*pkgd\.lock\.damaged-/m)
    expect(doctor.exitCode).toBe(0)
    expect((await home.pkg(['install', '--frozen'])).exitCode).toBe(0)
  })

  it('a damaged database is set aside, nothing is swept, and doctor says so', async () => {
    await using folder = await createPackageFolder()
    await using home = await createTestHome({ driver: 'docker' })
    await home.pkg(['install', await folder.write(nodeServer('kept'), { 'server.mjs': serverProgram() }), '--start'])
    const before = await home.containers()
    expect(before).toHaveLength(1)
    await home.pkg(['daemon', 'stop'])
    for (const name of ['state.db-wal', 'state.db-shm']) await execa('rm', ['-f', join(home.path, name)])
    await writeFile(join(home.path, 'state.db'), Buffer.alloc(8192, 7))
    await home.pkg(['daemon', 'start'])
    expect((await readdir(home.path)).filter((name) => name.startsWith('state.db.damaged-'))).toHaveLength(1)
    const doctor = await home.pkg(['doctor'])
    expect(doctor.stdout).toMatch(/database|set aside|restored/i)
    const { stdout } = await execa('docker', ['ps', '-q', '--no-trunc'])
    expect(stdout).toContain(before[0]?.id)
    expect((await home.pkg(['doctor', '--repair'])).exitCode).toBe(0)
    await execa('docker', ['rm', '-f', before[0]?.id ?? ''], { reject: false })
  })

  it('the engine gone in the middle: degraded, then well again, nothing lost', async () => {
    await using folder = await createPackageFolder()
    const socket = join(folder.path, 'engine.sock')
    const relay = await relayEngine(socket)
    cleanups.push(relay.close)
    await using home = await createTestHome({ driver: 'docker', env: { DOCKER_HOST: `unix://${socket}` } })
    await home.pkg(['install', await folder.write(nodeServer('kept'), { 'server.mjs': serverProgram() }), '--start'])
    await home.pkg(['install', await folder.write(nodeServer('later'), { 'server.mjs': serverProgram() })])
    await relay.cut()
    const started = await home.pkg(['start', 'later'])
    expect(started.stderr).toContain('error ENGINE_UNREACHABLE: ')
    expect(started.exitCode).toBe(1)
    await relay.restore()
    expect((await home.pkg(['call', 'kept/echo', '{"message":"still here"}'])).stdout).toBe('still here\n')
    await expect.poll(async () => (await home.pkg(['start', 'later'])).exitCode, { timeout: 20_000 }).toBe(0)
  })
})

describe.skipIf(rootReason)(`a disk that is full [${rootReason}]`, () => {
  it('undoes the install and says so', async () => {
    await using folder = await createPackageFolder()
    await using home = await createTestHome({ driver: 'docker' })
    await home.pkg(['daemon', 'start'])
    for (const name of ['store', 'tmp']) await mkdir(join(home.path, name), { recursive: true })
    await execa('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', join(home.path, 'store')])
    cleanups.push(() => execa('umount', ['-l', join(home.path, 'store')], { reject: false }))
    const big = await folder.write(nodeServer('big'), { 'server.mjs': serverProgram(), 'ballast.bin': 'x'.repeat(3 * 1024 * 1024) })
    const installed = await home.pkg(['install', big])
    expect(installed.stderr).toContain('error DISK_FULL: ')
    expect(installed.exitCode).toBe(1)
    expect((await home.pkg(['list', '--json'])).json()).toEqual([])
    await execa('umount', [join(home.path, 'store')])
    expect((await home.pkg(['install', big])).exitCode).toBe(0)
  })
})

function listen(server: Server, at: number | string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const done = () => resolve((server.address() as { port?: number }).port ?? 0)
    if (typeof at === 'number') server.listen(at, '127.0.0.1', done)
    else server.listen(at, done)
  })
}

/** The engine behind a socket of the test's own, which can be cut and restored. */
async function relayEngine(socket: string) {
  const open = new Set<Socket>()
  let server: Server
  const start = async () => {
    server = createServer((client) => {
      const engine = connect('/var/run/docker.sock')
      for (const side of [client, engine]) {
        open.add(side)
        side.on('error', () => side.destroy())
        side.on('close', () => open.delete(side))
      }
      client.pipe(engine).pipe(client)
    })
    await listen(server, socket)
  }
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const side of open) side.destroy()
    })
  await start()
  return { cut, restore: start, close: cut }
}
