import { lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import { sandboxParts } from '../../daemon/core/mountTargets.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { checkMounts } from '../confinement/mountRules.ts'
import { toSandboxExit } from '../confinement/sandboxExit.ts'
import type { BuildResult, BuildSpec } from '../sandboxDriver.ts'
import { commandNotFoundExit, parseCommandNotFound } from '../starter/starterCommand.ts'
import { startBox } from './boxProcess.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { readCounter } from './cgroupCounter.ts'
import { createOutputTail } from './outputTail.ts'
import { type PreparedBox, prepareBox } from './prepareBox.ts'
import { readProcess } from './processIdentity.ts'
import type { RuntimeRoots } from './runtimeRoots.ts'
import { toCommandNotFound } from './starterWatch.ts'

const keptOutput = 64 * 1024

/** Runs a command to its end in a box of its own and removes it, whatever happened. It ends with this process. */
export async function runBuild(
  spec: BuildSpec,
  operation: OperationContext,
  context: BubblewrapContext,
  roots: RuntimeRoots,
): Promise<BuildResult> {
  const { identity, reach, mounts, uid } = spec
  const reason = reach.length > 0 ? await context.deps.egress.unavailable() : null
  if (reason !== null) {
    throw new PkgdError('NETWORK_UNSUPPORTED', `A build of ${identity.packageId} cannot be held to what it may reach: ${reason}`)
  }
  const name = context.toName(`${identity.packageId}-build`)
  const root = await roots.locate(spec.image, operation)
  const builder = (await readProcess(process.pid)) ?? null
  context.busy.add(name)
  try {
    if (context.asRoot) for (const { source, readOnly } of mounts) if (!readOnly) await give(source, uid)
    const policy = reach.length > 0 ? ({ mode: 'reach', targets: reach } as const) : ({ mode: 'none' } as const)
    const { image, command, env, limits } = spec
    const box = await prepareBox(
      {
        ...{ name, identity, image, root, tree: null, command, env, uid, limits, policy, builder },
        mounts: checkMounts(mounts, sandboxParts),
        granted: [],
        network: 'none',
        stdio: 'attach',
        logBytes: 0,
      },
      context,
    )
    try {
      return await waitForEnd(box, identity.packageId, operation)
    } finally {
      await box.cgroup.kill()
      await box.undo()
    }
  } finally {
    context.busy.delete(name)
  }
}

async function waitForEnd(box: PreparedBox, packageId: string, { signal }: OperationContext): Promise<BuildResult> {
  signal.throwIfAborted()
  const running = await startBox(box.orders)
  const output = createOutputTail(keptOutput)
  for (const stream of [running.stdout, running.stderr]) stream.on('data', output.push)
  // Without cgroups the box ends with bwrap.
  const abort = () => void running.child.kill('SIGKILL')
  signal.addEventListener('abort', abort)
  try {
    const code = await running.closed
    signal.throwIfAborted()
    const started = (await running.ready) !== undefined
    const text = output.read()
    if (!started)
      throw new PkgdError('START_FAILED', `The build of ${packageId} could not be started: ${text.trim() || 'bwrap said nothing'}`)
    if (code === commandNotFoundExit) {
      const missing = text
        .split('\n')
        .map(parseCommandNotFound)
        .find((command) => command !== undefined)
      if (missing !== undefined) throw toCommandNotFound(missing, packageId)
    }
    const oomKills = box.cgroup.oomCounter ? await readCounter(box.cgroup.oomCounter) : 0
    const exit = toSandboxExit({ exitCode: code, oomKilled: oomKills > 0, finishedAt: new Date().toISOString() })
    return { exit, output: text }
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** What a build may write is made its user's own: links themselves, not what they point to. */
async function give(path: string, uid: number): Promise<void> {
  const found = await lstat(path)
  if (found.uid !== uid || found.gid !== uid) await lchown(path, uid, uid)
  if (!found.isDirectory()) return
  for (const name of await readdir(path)) await give(join(path, name), uid)
}
