import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readDaemonFile } from '../../../../daemon/core/daemonFile.ts'
import { locateHome } from '../../../../daemon/core/home.ts'
import { writeDaemonFile } from '../../../../daemon/home/daemonFile.ts'
import { acquireDaemonLock } from '../../../../daemon/home/daemonLock.ts'
import { prepareHome } from '../../../../daemon/home/prepareHome.ts'
import { loadToken } from '../../../../daemon/home/tokenFile.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pkgd-home-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const home = () => locateHome({ PKGD_HOME: root })

test('the token is made once, kept private, and the environment goes before it', () => {
  const token = loadToken(home(), {})
  expect(token).toMatch(/^[\w-]{43}$/)
  expect(statSync(home().token).mode & 0o777).toBe(0o600)
  chmodSync(home().token, 0o644)
  expect(loadToken(home(), {})).toBe(token)
  expect(statSync(home().token).mode & 0o777).toBe(0o600)
  expect(loadToken(home(), { PKGD_TOKEN: 'x'.repeat(20) })).toBe('x'.repeat(20))
  writeFileSync(home().token, 'two words\n')
  expect(() => loadToken(home(), {})).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
})

test('a home is made for its owner alone; a place where none can be is said', async () => {
  await prepareHome(locateHome({ PKGD_HOME: join(root, 'new') }))
  expect(statSync(join(root, 'new')).mode & 0o777).toBe(0o700)
  mkdirSync(join(root, 'open'), { mode: 0o755 })
  await prepareHome(locateHome({ PKGD_HOME: join(root, 'open') }))
  expect(statSync(join(root, 'open')).mode & 0o777).toBe(0o700)
  writeFileSync(join(root, 'file'), '')
  await expect(prepareHome(locateHome({ PKGD_HOME: join(root, 'file') }))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  const long = locateHome({ PKGD_HOME: join(root, 'x'.repeat(120)) })
  await expect(prepareHome(long)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('107') })
})

test('the lock is held by one, and let go of by a process that is killed', async () => {
  const first = acquireDaemonLock(home())
  expect(() => acquireDaemonLock(home())).toThrow(expect.objectContaining({ code: 'DAEMON_ALREADY_RUNNING' }))
  first[Symbol.dispose]()

  const module = JSON.stringify(join(import.meta.dirname, '../../../../daemon/home/daemonLock.ts'))
  const program = `const { acquireDaemonLock } = await import(${module})
    const held = acquireDaemonLock(${JSON.stringify(home())}); console.log('held'); setInterval(() => held, 1000)`
  const other = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(other.stdout, 'data')
  expect(() => acquireDaemonLock(home())).toThrow(expect.objectContaining({ code: 'DAEMON_ALREADY_RUNNING' }))
  other.kill('SIGKILL')
  await once(other, 'exit')
  acquireDaemonLock(home())[Symbol.dispose]()
})

test('daemon.json is whole, private and taken back; a torn one is none', () => {
  {
    using file = writeDaemonFile(home(), { url: 'http://127.0.0.1:1', version: '1.0.0' })
    expect(readDaemonFile(home())).toMatchObject({
      pid: process.pid,
      url: 'http://127.0.0.1:1',
      version: '1.0.0',
      started_at: file.started_at,
    })
    expect(Math.abs(Date.parse(file.started_at) - (Date.now() - process.uptime() * 1000))).toBeLessThan(3000)
    expect(statSync(home().daemonFile).mode & 0o777).toBe(0o600)
    expect(readFileSync(home().daemonFile, 'utf8').endsWith('}\n')).toBe(true)
  }
  expect(readDaemonFile(home())).toBeNull()
  writeFileSync(home().daemonFile, '{"pid": 1')
  expect(readDaemonFile(home())).toBeNull()
})
