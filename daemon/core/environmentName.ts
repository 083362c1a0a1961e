/** What a name of an environment variable looks like: what every shell takes. */
export const environmentNamePattern = '^[A-Za-z_][A-Za-z0-9_]*$'

/** Variables that some shell keeps to itself: assigning them ends bash or dash before a package is reached. */
export const shellsOwnNames: readonly string[] = ['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'HISTCMD', 'OPTIND', 'PPID', 'SHELLOPTS', 'UID']

/** What the daemon tells a package itself. */
export const daemonsPrefix = 'PKGD_'

/** As messages and schemas say it. */
export const environmentNameRule = 'letters, digits and "_", with no digit in front'

const pattern = new RegExp(environmentNamePattern)

/** Why no variable of a sandbox can have this name, as the end of a sentence; undefined where one can. */
export function checkShellName(name: string): string | undefined {
  if (!pattern.test(name)) return `is not the name of an environment variable: ${environmentNameRule}`
  return shellsOwnNames.includes(name) ? 'is a variable that shells keep to themselves' : undefined
}

/** The same for a name that an author or a user chooses: those of the daemon are refused too. */
export const checkEnvironmentName = (name: string): string | undefined =>
  checkShellName(name) ?? (name.startsWith(daemonsPrefix) ? `begins with ${daemonsPrefix}: such variables are the daemon's` : undefined)
