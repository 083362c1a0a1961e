/** Where a sandbox's box directory is mounted, read-only. */
export const boxMountPoint = '/run/pkgd'

/** The exit code and the message of a starter that did not find the package's command. */
export const commandNotFoundExit = 127

/** The argv of a sandbox whose box directory is at `mountPoint`: the starter, then the package's own command. */
export function toStarterCommand(command: readonly string[], mountPoint: string = boxMountPoint): string[] {
  return ['/bin/sh', `${mountPoint}/starter`, ...command]
}

/** The command that the starter did not find, told by its line on stderr; undefined for every other line. */
export function parseCommandNotFound(line: string): string | undefined {
  return /^pkgd-starter: (.*): not found$/s.exec(line.trimEnd())?.[1]
}
