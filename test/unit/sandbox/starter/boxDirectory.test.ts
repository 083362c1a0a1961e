import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBoxDirectory } from '../../../../sandbox/starter/boxDirectory.ts'
import { parseCommandNotFound, toStarterCommand } from '../../../../sandbox/starter/starterCommand.ts'

const uid = process.getuid?.() === 0 ? 200_123 : (process.getuid?.() ?? 0)
let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pkgd-box-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const run = (directory: string, command: string[]) => {
  const [shell = '', ...args] = toStarterCommand(command, directory)
  return spawnSync(shell, args, { encoding: 'utf8', env: { PATH: process.env.PATH } })
}

test('with pipes it holds both pipes, the env file and the starter, each as narrow as it can be', async () => {
  const directory = join(root, 'run', 'box')
  await createBoxDirectory({ directory, uid, env: { A: '1' }, stdio: 'pipes' })
  expect(readdirSync(directory).sort()).toEqual(['env', 'in', 'out', 'starter'])
  expect(statSync(directory).mode & 0o7777).toBe(0o755)
  expect(statSync(join(root, 'run')).mode & 0o7777).toBe(0o700)
  for (const pipe of ['in', 'out']) {
    const stat = statSync(join(directory, pipe))
    expect([stat.isFIFO(), stat.uid, stat.mode & 0o7777]).toEqual([true, uid, 0o600])
  }
  const env = statSync(join(directory, 'env'))
  expect([env.uid, env.mode & 0o7777]).toEqual([uid, 0o400])
  expect(statSync(join(directory, 'starter')).mode & 0o222).toBe(0)
})

test('for attach it holds no pipes, and the program gets its env, its arguments and the stdio it was given', async () => {
  const directory = join(root, 'box')
  await createBoxDirectory({ directory, uid, env: { GREETING: `it's` }, stdio: 'attach' })
  expect(readdirSync(directory).sort()).toEqual(['env', 'starter'])
  const result = run(directory, ['printf', '%s-%s', 'a b', '*'])
  expect(result).toMatchObject({ status: 0, stdout: 'a b-*', stderr: '' })
  expect(run(directory, ['sh', '-c', 'printf %s "$GREETING"']).stdout).toBe(`it's`)
})

test('PATH is the one of the env file', async () => {
  const directory = join(root, 'box')
  await createBoxDirectory({ directory, uid, env: { PATH: '/nowhere' }, stdio: 'attach' })
  expect(run(directory, ['printf', 'x']).status).toBe(127)
})

test.each(['no-such-program', './no-such-file', '/no/such/file'])('the command %s is reported as not found', async (command) => {
  const directory = join(root, 'box')
  await createBoxDirectory({ directory, uid, env: {}, stdio: 'attach' })
  const result = run(directory, [command])
  expect(result.status).toBe(127)
  expect(parseCommandNotFound(result.stderr)).toBe(command)
})

test('nothing of the starter stays: the process becomes the command', async () => {
  const directory = join(root, 'box')
  await createBoxDirectory({ directory, uid, env: {}, stdio: 'attach' })
  const command = execFileSync('/bin/sh', [join(directory, 'starter'), 'cat', '/proc/self/cmdline'], { encoding: 'utf8' })
  expect(command.split('\0')[0]).toBe('cat')
})

test('what cannot be passed leaves nothing behind', async () => {
  const directory = join(root, 'box')
  await expect(createBoxDirectory({ directory, uid, env: { 'a b': 'x' }, stdio: 'pipes' })).rejects.toMatchObject({ code: 'USAGE' })
  expect(existsSync(directory)).toBe(false)
})

test('a directory that is there is neither used nor removed', async () => {
  const directory = join(root, 'box')
  await createBoxDirectory({ directory, uid, env: { A: '1' }, stdio: 'attach' })
  await expect(createBoxDirectory({ directory, uid, env: { A: '2' }, stdio: 'attach' })).rejects.toMatchObject({ code: 'EEXIST' })
  expect(readFileSync(join(directory, 'env'), 'utf8')).toBe(`export A='1'\n`)
})

test('other lines of stderr are not taken for the starter', () => {
  expect(parseCommandNotFound('pkgd-starter: weird name: not found\n')).toBe('weird name')
  expect(parseCommandNotFound('sh: 1: x: not found')).toBeUndefined()
})
