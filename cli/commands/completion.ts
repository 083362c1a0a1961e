import { PkgdError } from '../../daemon/core/errors.ts'
import { defineCommand } from '../command.ts'
import { commandNames, loadCommand } from '../commands.ts'
import { toBash, toFish, toZsh } from '../completionScripts.ts'
import { globalOptions } from '../parseArguments.ts'

const shells = { bash: toBash, zsh: toZsh, fish: toFish } as const

export const completion = defineCommand({
  name: 'completion',
  summary: 'print a completion script for bash, zsh or fish',
  usage: ['completion bash|zsh|fish'],
  arity: [1, 1],
  completes: 'subcommand',
  subcommands: ['bash', 'zsh', 'fish'],
  options: {},
  async run({ args: [shell = ''] }) {
    if (!Object.hasOwn(shells, shell)) throw new PkgdError('USAGE', `No completion for ${shell}`, { hint: 'pkg completion bash|zsh|fish' })
    const commands = (await Promise.all(commandNames.map(loadCommand))).filter((command) => command !== undefined)
    const script = shells[shell as keyof typeof shells](commands, Object.keys(globalOptions))
    return { json: { shell, script }, text: script }
  },
})
