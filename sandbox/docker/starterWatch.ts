import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCoded, hasCode, PkgdError } from '../../daemon/core/errors.ts'
import { readIfThere } from '../confinement/cgroups.ts'
import { boxMountPoint, commandNotFoundExit, parseCommandNotFound } from '../starter/starterCommand.ts'
import type { EngineApi } from './engineApi.ts'
import { readLogEntries, readLogFrames } from './logFrames.ts'

const longest = 5_000

/**
 * Resolves when the starter has become the package's command (true) or the sandbox has ended (false). There is no event for an exec, so the processes
 * are looked at: the starter takes a millisecond or two, most of which pass while the limits are read back. `init` is the container's PID 1 as this
 * host has it; null for a container that runs elsewhere, of which the engine is asked.
 */
export async function watchStarter(api: EngineApi, id: string, init: number | null, signal: AbortSignal): Promise<boolean> {
  for (const until = performance.now() + longest; performance.now() < until; await sleep(init === null ? 10 : 1)) {
    signal.throwIfAborted()
    const phase = init === null ? await lookFromAfar(api, id) : await look(init)
    if (phase !== 'starting') return phase === 'started'
  }
  // Neither seen: a start as slow as this is its host's to judge.
  return true
}

type Phase = 'starting' | 'started' | 'ended'

async function look(init: number): Promise<Phase> {
  try {
    const children = readFileSync(`/proc/${init}/task/${init}/children`, 'utf8').trim()
    // The init is there and has not started its child yet, or has lost it and is about to end: both are over in a moment.
    if (children === '') return (await isZombie(init)) ? 'ended' : 'starting'
    const command = readFileSync(`/proc/${children.split(' ')[0]}/cmdline`, 'utf8')
    return command === '' || command.startsWith(`/bin/sh\0${boxMountPoint}/starter\0`) ? 'starting' : 'started'
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ESRCH')) throw error
    // The init is gone, or its child between the two readings.
    return (await isZombie(init)) ? 'ended' : 'starting'
  }
}

/** Gone counts as well. */
async function isZombie(pid: number): Promise<boolean> {
  const status = await readIfThere(`/proc/${pid}/status`)
  return status === null || /^State:\s+[ZX]/m.test(status)
}

async function lookFromAfar(api: EngineApi, id: string): Promise<Phase> {
  const commands = await api.listProcesses(id)
  if (commands.length === 0) return 'ended'
  const own = commands.filter((command) => !/^\S*(docker-init|catatonit|tini)\b/.test(command))
  return own.length > 0 && !own.some((command) => command.startsWith(`/bin/sh ${boxMountPoint}/starter `)) ? 'started' : 'starting'
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
