import { checkShellName } from '../../daemon/core/environmentName.ts'
import { PkgdError } from '../../daemon/core/errors.ts'

/**
 * The file that the starter reads: one `export K='v'` a variable, quoted so that a shell takes every value literally.
 * Errors: USAGE for a name that is no shell variable or that a shell keeps to itself, or a value with a NUL byte; values are never in the message.
 */
export function toEnvFile(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => {
      const wrong = checkShellName(name)
      if (wrong) throw new PkgdError('USAGE', `"${name}" cannot be set for a package: it ${wrong}`, { hint: 'use another name' })
      if (value.includes('\0')) {
        throw new PkgdError('USAGE', `The value of the environment variable "${name}" holds a NUL byte`, { hint: 'encode the value' })
      }
      return `export ${name}='${value.replaceAll("'", "'\\''")}'\n`
    })
    .join('')
}
