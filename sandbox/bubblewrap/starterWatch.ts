import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { SandboxExit } from '../../daemon/core/types.ts'
import { boxMountPoint, commandNotFoundExit, parseCommandNotFound } from '../starter/starterCommand.ts'
import { readLog } from './logReader.ts'
import { isAlive, type ProcessIdentity } from './processIdentity.ts'

/** The kernel has no event for an exec, so the process is looked at until it is no longer the starter, or gone; that takes a millisecond or two. */
export async function watchStarter(main: ProcessIdentity, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    signal.throwIfAborted()
    if (!(await isStarting(main.pid)) || !(await isAlive(main))) return
    await delay(1)
  }
}

/** In the middle of an exec, and after its end, a process has no command line at all. */
async function isStarting(pid: number): Promise<boolean> {
  try {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    return command === '' || (command.startsWith('/bin/sh\0') && command.includes(`${boxMountPoint}/starter\0`))
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return false
    throw error
  }
}

/** Throws COMMAND_NOT_FOUND when the sandbox whose run directory this is ended so because its command is not there. */
export async function checkCommandFound(exit: SandboxExit, directory: string, packageId: string): Promise<void> {
  if (exit.kind !== 'exit' || exit.code !== commandNotFoundExit) return
  const query = { follow: false, tail: 5, signal: new AbortController().signal }
  for await (const { line } of readLog(directory, query, Promise.resolve())) {
    const command = parseCommandNotFound(line)
    if (command !== undefined) throw toCommandNotFound(command, packageId)
  }
}

export const toCommandNotFound = (command: string, packageId: string): PkgdError =>
  new PkgdError('COMMAND_NOT_FOUND', `The command ${command} of ${packageId} is not in its image or package`, {
    hint: "check the command in the package's manifest",
  })
