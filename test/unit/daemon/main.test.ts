import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, test } from 'vitest'

const main = join(import.meta.dirname, '../../../daemon/main.ts')
const root = mkdtempSync(join(tmpdir(), 'pkgd-main-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const run = (args: readonly string[], env: Record<string, string> = {}, ready = false) =>
  execa(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
    reject: false,
    env: { PKGD_HOME: root, PKGD_PORT: '0', ...env },
    ...(ready ? { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] as const } : {}),
  })

test.each([
  [['--help'], 0, /^usage: pkgd/, /^$/],
  [['--version'], 0, /^\d+\.\d+\.\d+$/, /^$/],
  [['--nope'], 2, /^$/, /^usage: pkgd/],
  [['start', 'x'], 2, /^$/, /^usage: pkgd/],
])('pkgd %j ends with %i', async (args, exitCode, stdout, stderr) => {
  expect(await run(args)).toMatchObject({ exitCode, stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) })
})

test('a start that fails is said on stderr, by the exit code, and to whoever asked for readiness', async () => {
  const { exitCode, stderr, stdio } = await run([], { PKGD_LOG: 'loud', PKGD_READY_FD: '3' }, true)
  expect(exitCode).toBe(5)
  expect(stderr).toMatch(/^error CONFIG_INVALID: .*PKGD_LOG.*\nhint: /)
  expect(JSON.parse(String(stdio[3]))).toMatchObject({ ready: false, code: 'CONFIG_INVALID', hint: expect.any(String) })
})

test.runIf(process.platform === 'linux')('what a process was started with is closed, but for what it keeps', () => {
  const inherited = openSync('/', 'r')
  const core = join(import.meta.dirname, '../../../daemon/core/inheritedDescriptors.ts')
  const script = `import { closeInheritedDescriptors, listInheritable } from ${JSON.stringify(core)}
    const before = listInheritable()
    closeInheritedDescriptors([40])
    console.log(JSON.stringify([before.includes(40), before.includes(50), listInheritable()]))`
  const unlisted = (count: number) => Array.from({ length: count }, () => 'ignore' as const)
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit', ...unlisted(37), inherited, ...unlisted(9), inherited],
  })
  closeSync(inherited)
  expect(JSON.parse(stdout.toString())).toEqual([true, true, [40]])
})

test.runIf(process.platform === 'linux')("a daemon that is ready has none of its starter's files open", async () => {
  const inherited = openSync('/', 'r')
  const unlisted = Array.from({ length: 36 }, () => 'ignore' as const)
  const daemon = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { ...process.env, PKGD_HOME: join(root, 'files'), PKGD_PORT: '0', PKGD_DRIVER: 'bubblewrap', PKGD_READY_FD: '3' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', ...unlisted, inherited],
  })
  closeSync(inherited)
  const ended = once(daemon, 'exit')
  try {
    const [line] = await once(daemon.stdio[3] as NodeJS.ReadableStream, 'data')
    expect(JSON.parse(String(line))).toEqual({ ready: true })
    expect(existsSync(`/proc/${daemon.pid}/fd/40`)).toBe(false)
  } finally {
    daemon.kill()
    await ended
  }
})
