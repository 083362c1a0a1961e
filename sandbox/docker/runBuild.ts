import { lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { OperationContext } from '../../daemon/core/ports.ts'
import type { MountGrant } from '../../daemon/core/types.ts'
import type { BuildResult } from '../sandboxDriver.ts'
import { toSandboxExit } from './containerExit.ts'
import type { EngineApi } from './engineApi.ts'
import { type ContainerDeps, type LaunchRequest, startContainer } from './launchContainer.ts'
import { readLogFrames } from './logFrames.ts'
import { checkCommandFound } from './starterWatch.ts'

const keptOutput = 64 * 1024

/** Runs a container to its end and removes it, whatever happened. */
export async function runBuild(request: LaunchRequest, context: OperationContext, deps: ContainerDeps): Promise<BuildResult> {
  const started = await startContainer(request, context, deps)
  const { id } = started.handle
  const { api } = deps
  try {
    await api.waitContainer(id, context.signal)
    const { State: state } = await api.inspectContainer(id)
    await checkCommandFound(api, id, state.ExitCode, request.box.labels.identity.packageId)
    const exit = toSandboxExit({ exitCode: state.ExitCode, oomKilled: state.OOMKilled, finishedAt: state.FinishedAt })
    return { exit, output: await readOutput(api, id) }
  } catch (error) {
    context.signal.throwIfAborted()
    throw error
  } finally {
    await started.undo()
  }
}

async function readOutput(api: EngineApi, id: string): Promise<string> {
  const log = await api.readLogs(id, { stdout: true, follow: false, tail: null, signal: AbortSignal.timeout(30_000) })
  const parts: Buffer[] = []
  let length = 0
  for await (const { payload } of readLogFrames(log)) {
    const text = payload.subarray(payload.indexOf(0x20) + 1)
    parts.push(text)
    length += text.length
    for (let first = parts[0]; first && length - first.length >= keptOutput; first = parts[0]) {
      parts.shift()
      length -= first.length
    }
  }
  return Buffer.concat(parts).subarray(-keptOutput).toString()
}

/** As root, what a build may write is made its user's own, links themselves and not what they point to. */
export async function giveMounts(mounts: readonly MountGrant[], uid: number): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const { source, readOnly } of mounts) if (!readOnly) await give(source, uid)
}

async function give(path: string, uid: number): Promise<void> {
  const found = await lstat(path)
  if (found.uid !== uid || found.gid !== uid) await lchown(path, uid, uid)
  if (!found.isDirectory()) return
  for (const name of await readdir(path)) await give(join(path, name), uid)
}
