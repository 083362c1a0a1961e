import { lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import { sandboxParts } from '../../daemon/core/mountTargets.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import type { MountGrant } from '../../daemon/core/types.ts'
import { checkMounts } from '../confinement/mountRules.ts'
import type { BuildResult, BuildSpec } from '../sandboxDriver.ts'
import type { BoxSpec } from './containerSpec.ts'
import { toExit } from './containerStatus.ts'
import type { DockerContext } from './dockerContext.ts'
import type { EngineApi } from './engineApi.ts'
import { startContainer } from './launchContainer.ts'
import { readLogFrames } from './logFrames.ts'
import { toBindMount } from './sandboxMounts.ts'
import { checkCommandFound } from './starterWatch.ts'

const keptOutput = 64 * 1024
const logBytes = 1 << 20

/** Runs a command to its end in a container of its own and removes it, whatever happened. */
export async function runBuild(spec: BuildSpec, context: OperationContext, docker: DockerContext): Promise<BuildResult> {
  const { api, busy } = docker
  const { identity, reach, mounts, uid } = spec
  const reason = reach.length > 0 ? await docker.networkRefused() : null
  if (reason !== null) {
    throw new PkgdError('NETWORK_UNSUPPORTED', `A build of ${identity.packageId} cannot be held to what it may reach: ${reason}`)
  }
  const name = docker.toName(`${identity.packageId}-build`)
  busy.add(name)
  try {
    await giveMounts(mounts, uid)
    const egress = reach.length > 0 ? ({ mode: 'reach', targets: reach } as const) : ({ mode: 'none' } as const)
    const started = await startContainer(
      { box: toBox(spec, name), env: spec.env, egress, granted: [] },
      context,
      await docker.toContainerDeps(),
    )
    try {
      return await waitForEnd(api, started.handle.id, identity.packageId, context.signal)
    } finally {
      await started.undo()
    }
  } finally {
    busy.delete(name)
  }
}

function toBox({ identity, limits, image, command, uid, mounts }: BuildSpec, name: string): Omit<BoxSpec, 'network'> {
  return {
    name,
    labels: { identity, limits, network: 'none', stdio: 'attach', purpose: 'build' },
    image: image.id,
    command,
    workingDirectory: '/tmp',
    uid,
    limits,
    unsupported: [],
    mounts: checkMounts(mounts, sandboxParts).map(toBindMount),
    logBytes,
  }
}

async function waitForEnd(api: EngineApi, id: string, packageId: string, signal: AbortSignal): Promise<BuildResult> {
  try {
    await api.waitContainer(id, signal)
  } catch (error) {
    // The operation's own reason is what its caller is told, not the wait that it broke off.
    signal.throwIfAborted()
    throw error
  }
  const details = await api.inspectContainer(id)
  await checkCommandFound(api, id, details.State.ExitCode, packageId)
  return { exit: toExit(details, false), output: await readOutput(api, id) }
}

async function readOutput(api: EngineApi, id: string): Promise<string> {
  const log = await api.readLogs(id, { stdout: true, follow: false, tail: null, signal: AbortSignal.timeout(30_000) })
  const parts: Buffer[] = []
  for await (const { payload } of readLogFrames(log)) parts.push(payload.subarray(payload.indexOf(0x20) + 1))
  return Buffer.concat(parts).subarray(-keptOutput).toString()
}

/** As root, what a build may write is made its user's own: links themselves, not what they point to. */
async function giveMounts(mounts: readonly MountGrant[], uid: number): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const { source, readOnly } of mounts) if (!readOnly) await give(source, uid)
}

async function give(path: string, uid: number): Promise<void> {
  const found = await lstat(path)
  if (found.uid !== uid || found.gid !== uid) await lchown(path, uid, uid)
  if (!found.isDirectory()) return
  for (const name of await readdir(path)) await give(join(path, name), uid)
}
