import { commandNames, loadCommand } from '../../cli/commands.ts'
import { commandHelp, overview } from '../../cli/help.ts'

/** docs/cli.md: what `pkg --help` and `pkg <command> --help` say. */
export async function cliDocument(): Promise<string> {
  const commands = await Promise.all(commandNames.map(loadCommand))
  const sections = commands.flatMap((command) => (command ? [`## pkg ${command.name}\n\n${block(commandHelp(command))}`] : []))
  const intro = `<!-- Generated from cli/commands by \`npm run docs\`. -->\n\n# The command line\n\n${block(await overview())}`
  return `${[intro, ...sections].join('\n\n')}\n`
}

const block = (text: string): string => `\`\`\`text\n${text.trimEnd()}\n\`\`\``
