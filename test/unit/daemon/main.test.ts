import { mkdtempSync, rmSync } from 'node:fs'
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
