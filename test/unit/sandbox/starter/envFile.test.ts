import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toEnvFile } from '../../../../sandbox/starter/envFile.ts'

/** What a shell that reads the file hands to a program. */
function readBack(text: string): Record<string, string> {
  const directory = mkdtempSync(join(tmpdir(), 'pkgd-env-'))
  try {
    writeFileSync(join(directory, 'env'), text)
    const output = execFileSync('/bin/sh', ['-c', `. ${directory}/env; exec env -0`], { env: { PATH: process.env.PATH ?? '' } })
    return Object.fromEntries(
      output
        .toString()
        .split('\0')
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test('whatever a value holds, a shell hands it on as it is', () => {
  const value = fc
    .string({ unit: 'grapheme', maxLength: 60 })
    .filter((text) => !text.includes('\0') && Buffer.from(text).toString() === text)
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 8 }), (values) => {
      const env = Object.fromEntries(values.map((text, index) => [`V${index}`, text]))
      expect(readBack(toEnvFile(env))).toMatchObject(env)
    }),
    { numRuns: 30 },
  )
})

test.each([
  ['quotes', `it's "so"`],
  ['substitutions', '$(exit 3) `id` $HOME "$@"'],
  ['lines', 'a\nb\r\n\tc\n'],
  ['backslashes', '\\ \\\\ \\n \\'],
  ['nothing', ''],
  ['text of other scripts', 'Straße ☃ 雪 🧪'],
])('a value with %s is passed as it is', (_name, value) => {
  expect(readBack(toEnvFile({ VALUE: value })).VALUE).toBe(value)
})

test.each(['', '1A', 'A-B', 'A B', "A';id;'", 'A=B', 'UID', 'OPTIND'])('the name %j is refused', (name) => {
  expect(() => toEnvFile({ [name]: 'secret-value' })).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.not.stringContaining('secret-value') }),
  )
})

test('a NUL byte is refused, and the value is not in the message', () => {
  expect(() => toEnvFile({ KEY: 'se\0cret' })).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.not.stringContaining('cret') }),
  )
})
