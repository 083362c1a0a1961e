import { PkgdError } from '../../daemon/core/errors.ts'

const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Variables that some shell keeps to itself: assigning them ends bash or dash before the package is reached. */
const reserved = new Set(['BASHOPTS', 'EUID', 'OPTIND', 'PPID', 'SHELLOPTS', 'UID'])

/**
 * The file that the starter reads: one `export K='v'` a variable, quoted so that a shell takes every value literally.
 * Errors: USAGE for a name that is no shell variable or that a shell keeps to itself, or a value with a NUL byte; values are never in the message.
 */
export function toEnvFile(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => {
      if (!namePattern.test(name)) {
        throw new PkgdError('USAGE', `"${name}" cannot be an environment variable: a name has letters, digits and _ and no leading digit`, {
          hint: 'rename the variable',
        })
      }
      if (reserved.has(name)) {
        throw new PkgdError('USAGE', `"${name}" cannot be set for a package: shells keep this variable to themselves`, {
          hint: 'use another name',
        })
      }
      if (value.includes('\0')) {
        throw new PkgdError('USAGE', `The value of the environment variable "${name}" holds a NUL byte`, { hint: 'encode the value' })
      }
      return `export ${name}='${value.replaceAll("'", "'\\''")}'\n`
    })
    .join('')
}
