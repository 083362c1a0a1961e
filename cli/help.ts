import type { Command, OptionSpec } from './command.ts'
import { commandNames, loadCommand } from './commands.ts'
import { globalOptions } from './parseArguments.ts'
import { toTable } from './terminal/table.ts'

/** `pkg --help`: one line a command. */
export async function overview(): Promise<string> {
  const commands = await Promise.all(commandNames.map(loadCommand))
  const rows = commands.flatMap((command) => (command ? [[`  ${command.name}`, command.summary]] : []))
  return `pkg: install, run and use AI extensions in limited sandboxes\n\n${table(rows)}\n\npkg <command> --help tells more.`
}

/** `pkg <command> --help`. */
export function commandHelp(command: Command): string {
  const forms = command.usage.map((form) => `  pkg ${form}`).join('\n')
  const rows = Object.entries({ ...command.options, ...globalOptions }).map(([name, spec]) => [`  ${toFlag(name, spec)}`, spec.description])
  return `${command.summary}\n\n${forms}\n\n${table(rows)}`
}

const table = ([first = [], ...rows]: readonly (readonly string[])[]) => toTable(first, rows, first.join('  '))

function toFlag(name: string, { short, type, value }: OptionSpec): string {
  const flag = type === 'string' ? `--${name} ${value ?? '<value>'}` : `--${name}`
  return short ? `-${short}, ${flag}` : flag
}
