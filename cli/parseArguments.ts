import { parseArgs } from 'node:util'
import { PkgdError } from '../daemon/core/errors.ts'
import type { Command, OptionSpec } from './command.ts'

/** Options that every command takes. */
export const globalOptions = {
  json: { type: 'boolean', description: 'print one JSON document, and nothing else, on stdout' },
  'no-autostart': { type: 'boolean', description: 'do not start the daemon when it is not running' },
  help: { type: 'boolean', short: 'h', description: 'show this help' },
} as const satisfies Record<string, OptionSpec>

export interface Parsed {
  readonly args: readonly string[]
  readonly rest: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
}

/** argv behind the command's name -> its arguments. Errors: USAGE, with the nearest option or the synopsis as the hint. */
export async function parseArguments(command: Command, argv: readonly string[]): Promise<Parsed> {
  const cut = argv.indexOf('--')
  const head = cut === -1 ? argv : argv.slice(0, cut)
  const rest = cut === -1 ? [] : argv.slice(cut + 1)
  const specs: Record<string, OptionSpec> = { ...command.options, ...globalOptions }
  const usage = command.usage.map((form) => `pkg ${form}`).join(' | ')
  if (rest.length > 0 && !command.takesRest) throw new PkgdError('USAGE', `${command.name} takes nothing after --`, { hint: usage })

  const { values, positionals } = await parse(command.name, head, specs, usage)
  const [least, most] = command.arity
  if (!values.help && (positionals.length < least || positionals.length > most)) {
    const what = positionals.length < least ? 'an argument is missing' : `one argument too many: ${positionals[most]}`
    throw new PkgdError('USAGE', `${command.name}: ${what}`, { hint: usage })
  }
  return { args: positionals, rest, options: values }
}

async function parse(name: string, argv: readonly string[], specs: Record<string, OptionSpec>, usage: string) {
  const options = Object.fromEntries(
    Object.entries(specs).map(([key, { type, short, multiple }]) => [
      key,
      { type, ...(short === undefined ? {} : { short }), ...(multiple === undefined ? {} : { multiple }) },
    ]),
  )
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    const unknown = /Unknown option '(-[^']*)'/.exec(String(error))?.[1]
    const { nearest } = await import('./nearest.ts')
    const candidate = unknown && nearest(unknown.replace(/^-+/, ''), Object.keys(specs))
    const message = unknown ? `${name} has no option ${unknown}` : `${name}: ${error instanceof Error ? error.message : String(error)}`
    throw new PkgdError('USAGE', message, { hint: candidate ? `did you mean --${candidate}?` : usage, cause: error })
  }
}
