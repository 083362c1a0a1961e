import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCoded, hasCode, PkgdError } from '../../daemon/core/errors.ts'
import { boxMountPoint, commandNotFoundExit, parseCommandNotFound } from '../starter/starterCommand.ts'
import type { EngineApi } from './engineApi.ts'
import { readLogEntries, readLogFrames } from './logFrames.ts'

const longest = 5_000

/**
 * Resolves when the starter has become the package's command, or has ended. The kernel has no event for an exec, so its process table is looked at:
 * the starter takes a millisecond or two, most of which pass while the limits are read back. `init` is the container's PID 1 as this host sees it.
 */
export async function watchStarter(init: number, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + longest; performance.now() < until; await sleep(1)) {
    signal.throwIfAborted()
    if (!(await isStarting(init))) return
  }
}

/** The same of a container that runs elsewhere, by what the engine says of its processes. */
export async function watchStarterFromAfar(api: EngineApi, id: string, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + longest; performance.now() < until; await sleep(10)) {
    signal.throwIfAborted()
    const commands = await api.listProcesses(id)
    if (commands.length === 0) return
    const own = commands.filter((command) => !/^\S*(docker-init|catatonit|tini)\b/.test(command))
    if (own.length > 0 && !own.some((command) => command.startsWith(`/bin/sh ${boxMountPoint}/starter `))) return
  }
}

async function isStarting(init: number): Promise<boolean> {
  try {
    const children = (await readFile(`/proc/${init}/task/${init}/children`, 'utf8')).trim()
    // The init is there and has not started its child yet, or has lost it and is about to end: both are over in a moment.
    if (children === '') return true
    const command = await readFile(`/proc/${children.split(' ')[0]}/cmdline`, 'utf8')
    return command === '' || command.startsWith(`/bin/sh\0${boxMountPoint}/starter\0`)
  } catch (error) {
    // Gone: it ended.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return false
    throw error
  }
}

/** Throws COMMAND_NOT_FOUND when a sandbox that has ended ended because its command is not there. */
export async function checkCommandFound(api: EngineApi, id: string, exitCode: number, packageId: string): Promise<void> {
  if (exitCode !== commandNotFoundExit) return
  const command = await readMissingCommand(api, id)
  if (command === undefined) return
  throw new PkgdError('COMMAND_NOT_FOUND', `The command ${command} of ${packageId} is not in its image or package`, {
    hint: 'check mcp.command in the manifest, and sandbox.image if the program is in another image',
  })
}

async function readMissingCommand(api: EngineApi, id: string): Promise<string | undefined> {
  const log = await api.readLogs(id, { stdout: false, follow: false, tail: 5, signal: AbortSignal.timeout(5_000) })
  for await (const { line } of readLogEntries(readLogFrames(log))) {
    const command = parseCommandNotFound(line)
    if (command !== undefined) return command
  }
  return undefined
}

/** What the engine says when an image has no shell for the starter, as the package's error. */
export function toStartError(error: unknown, packageId: string): unknown {
  const text = findCoded(error)?.message ?? ''
  if (!/\/bin\/sh.*(no such file|not found)/.test(text)) return error
  return new PkgdError('COMMAND_NOT_FOUND', `The image of ${packageId} has no /bin/sh, which starts a package in its sandbox`, {
    cause: error,
    hint: 'use an image with a POSIX shell',
  })
}
