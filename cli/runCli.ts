import { PkgdError } from '../daemon/core/errors.ts'
import type { Home } from '../daemon/core/home.ts'
import { createClient } from './client.ts'
import type { Answer, Command } from './command.ts'
import { commandNames, loadCommand } from './commands.ts'
import { parseArguments } from './parseArguments.ts'
import { printError } from './printError.ts'
import { createTerminal } from './terminal/createTerminal.ts'

/** One command from argv to exit code. stdout gets the answer, stderr all else. */
export async function runCli(argv: readonly string[], home: Home): Promise<number> {
  const interrupt = new AbortController()
  const onInterrupt = () => interrupt.abort()
  process.once('SIGINT', onInterrupt)
  process.once('SIGTERM', onInterrupt)
  process.stdout.on('error', endWithoutReader)
  try {
    return await run(argv, home, interrupt.signal)
  } catch (error) {
    return printError(interrupt.signal.aborted ? new PkgdError('OPERATION_CANCELLED', 'Interrupted', { cause: error }) : error)
  } finally {
    process.off('SIGINT', onInterrupt)
    process.off('SIGTERM', onInterrupt)
  }
}

/** `pkg --json list` is `pkg list --json`: options that every command takes may stand before its name. */
function withNameFirst(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word) => word !== '--json' && word !== '--no-autostart')
  return at <= 0 ? argv : [...argv.slice(at, at + 1), ...argv.slice(0, at), ...argv.slice(at + 1)]
}

async function run(argv: readonly string[], home: Home, signal: AbortSignal): Promise<number> {
  const [name = '--help', ...rest] = withNameFirst(argv)
  if (name === '--help' || name === '-h' || name === 'help') return print(await help(rest[0]))
  if (name === '--version' || name === '-v') return print((await import('../package.json', { with: { type: 'json' } })).default.version)

  const command = await find(name)
  const { args, rest: after, options } = await parseArguments(command, rest)
  if (options.help) return print(await help(name))

  const json = options.json === true
  const terminal = createTerminal(json)
  const autostart = options['no-autostart'] === true ? null : () => autostartDaemon(home)
  const client = createClient({ home, url: process.env.PKGD_URL || undefined, token: process.env.PKGD_TOKEN || undefined, autostart })
  const answer = command.run({ args, rest: after, options, cwd: process.cwd(), terminal, client, signal } as Parameters<Command['run']>[0])

  if (!(Symbol.asyncIterator in answer)) {
    const { json: document, text, exit = 0, errors = [] } = await answer
    print(json ? JSON.stringify(document, null, 2) : text)
    return errors.map(printError)[0] ?? exit
  }
  let exit = 0
  for await (const line of answer) {
    print(toLine(line, json))
    exit = line.exit ?? exit
  }
  return exit
}

const toLine = ({ json: document, text }: Answer, json: boolean) => (json ? JSON.stringify(document) : text)

async function help(name: string | undefined): Promise<string> {
  const { commandHelp, overview } = await import('./help.ts')
  return name === undefined ? overview() : commandHelp(await find(name))
}

async function autostartDaemon(home: Home): Promise<void> {
  const { startDaemon } = await import('./startDaemon.ts')
  await startDaemon(home)
}

async function find(name: string): Promise<Command> {
  const command = await loadCommand(name)
  if (command) return command
  const { nearest } = await import('./nearest.ts')
  const candidate = nearest(name, commandNames)
  throw new PkgdError('USAGE', `There is no command ${name}`, { hint: candidate ? `did you mean pkg ${candidate}?` : 'pkg --help' })
}

function print(text: string): number {
  if (text !== '') process.stdout.write(`${text}\n`)
  return 0
}

/** `pkg logs -f | head`: the reader has gone, which is its right; a disk that is full is told. */
function endWithoutReader(error: NodeJS.ErrnoException): void {
  process.exit(error.code === 'EPIPE' ? 0 : printError(error))
}
