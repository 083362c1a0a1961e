import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { checkEnvironmentName, checkShellName, shellsOwnNames } from '../../../../daemon/core/environmentName.ts'

test.each([
  ['API_KEY', undefined, undefined],
  ['_x1', undefined, undefined],
  ['PKGD_SOCKET', undefined, /the daemon's/],
  ['1A', /no digit in front/, /no digit in front/],
  ['a-b', /letters, digits and "_"/, /letters, digits/],
  ['', /letters/, /letters/],
  ['A\n', /letters/, /letters/],
  ['UID', /shells keep to themselves/, /shells/],
])('%j', (name, inShell, chosen) => {
  expect(checkShellName(name) ?? '').toMatch(inShell ?? /^$/)
  expect(checkEnvironmentName(name) ?? '').toMatch(chosen ?? /^$/)
})

describe("the shells' own names", () => {
  const survives = (shell: string, name: string): boolean => {
    const { SHELL: _, ...env } = process.env
    const [command = '', ...options] = shell.split(' ')
    try {
      return (
        execFileSync(command, [...options, '-c', `export ${name}='x y'; echo reached`], { env, stdio: 'pipe' }).toString() === 'reached\n'
      )
    } catch {
      // The shell ended at the assignment, which is what is asked here.
      return false
    }
  }
  test.each(shellsOwnNames)('%s ends a shell', (name) => {
    expect(survives('sh', name) && survives('bash --posix', name)).toBe(false)
  })
  test.each(['PATH', 'HOME', 'IFS', 'LINENO', 'RANDOM', 'OPTARG', 'PS4', '_', 'TMOUT', 'LC_ALL', 'BASH_XTRACEFD'])(
    '%s does not',
    (name) => {
      expect(survives('sh', name) && survives('bash --posix', name)).toBe(true)
    },
  )
})
