import type { Command } from './command.ts'

/** Asks the CLI itself for the names that only the daemon knows, without starting one. */
const listPackages = `pkg list --json --no-autostart 2>/dev/null | sed -n 's/^    "id": "\\(.*\\)",$/\\1/p'`

const words = (command: Command, common: readonly string[]) => [...Object.keys(command.options), ...common].map((name) => `--${name}`)

const completesPackage = (commands: readonly Command[]) =>
  commands.filter(({ completes }) => completes === 'package').map(({ name }) => name)

const withSubcommands = (commands: readonly Command[]) => commands.filter(({ subcommands }) => subcommands !== undefined)

export function toBash(commands: readonly Command[], common: readonly string[]): string {
  const options = commands.map((command) => `    ${command.name}) options="${words(command, common).join(' ')}" ;;`)
  const subcommands = withSubcommands(commands).map(({ name, subcommands = [] }) => `    ${name}) names="${subcommands.join(' ')}" ;;`)
  return `_pkg() {
  local IFS=$' \\t\\n' current=\${COMP_WORDS[COMP_CWORD]} options="" names=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${options.join('\n')}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
    ${completesPackage(commands).join('|')}) names="$(${listPackages})" ;;
${subcommands.join('\n')}
    *)
      # Only here may a word be taken for a file: a folder in the way must not make a command of the same name into its path.
      compopt -o filenames 2>/dev/null
      IFS=$'\\n'
      COMPREPLY=($(compgen -f -- "$current"))
      return
      ;;
  esac
  COMPREPLY=($(compgen -W "$names" -- "$current"))
}
complete -F _pkg pkg`
}

export function toZsh(commands: readonly Command[], common: readonly string[]): string {
  const described = commands.map(({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`)
  const options = commands.map((command) => `    ${command.name}) options=(${words(command, common).join(' ')}) ;;`)
  const subcommands = withSubcommands(commands).map(({ name, subcommands = [] }) => `    ${name}) compadd -- ${subcommands.join(' ')} ;;`)
  return `#compdef pkg
_pkg() {
  local -a commands options
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
${options.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    compadd -- $options
    return
  fi
  case $words[2] in
    ${completesPackage(commands).join('|')}) compadd -- \${(f)"$(${listPackages})"} ;;
${subcommands.join('\n')}
    *) _files ;;
  esac
}
# As a file _pkg in $fpath it is what completes; sourced, it says who does.
if [[ $funcstack[1] == _pkg ]]; then _pkg "$@"; else compdef _pkg pkg; fi`
}

export function toFish(commands: readonly Command[], common: readonly string[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = commands.flatMap((command) => {
    const when = `-n '__fish_seen_subcommand_from ${command.name}'`
    return [
      `complete -c pkg -f -n __fish_use_subcommand -a ${command.name} -d ${quote(command.summary)}`,
      ...words(command, common).map((flag) => `complete -c pkg ${when} -l ${flag.slice(2)}`),
      ...(command.completes === 'package' ? [`complete -c pkg -f ${when} -a ${quote(`(${listPackages})`)}`] : []),
      ...(command.subcommands ? [`complete -c pkg -f ${when} -a ${quote(command.subcommands.join(' '))}`] : []),
    ]
  })
  return lines.join('\n')
}
