import type { Duplex } from 'node:stream'
import { PkgdError } from '../../daemon/core/errors.ts'
import { packageParts } from '../../daemon/core/mountTargets.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import type { MountGrant } from '../../daemon/core/types.ts'
import { checkEnforced } from '../confinement/limitReading.ts'
import { checkMounts } from '../confinement/mountRules.ts'
import type { EgressPolicy } from '../network/egressGuard.ts'
import type { LaunchSpec, SandboxHandle, SandboxReport } from '../sandboxDriver.ts'
import { confirmMounts } from './confirmMounts.ts'
import type { BoxSpec } from './containerSpec.ts'
import type { DockerContext } from './dockerContext.ts'
import { type StartedContainer, startContainer } from './launchContainer.ts'
import { toBindMount, toDataMount } from './sandboxMounts.ts'
import { checkCommandFound, watchStarter } from './starterWatch.ts'

const engineLagMs = 10_000

export const allowRefused = 'an allow-list of names and ports is not enforced yet'

export interface LaunchedSandbox {
  readonly handle: SandboxHandle
  readonly report: SandboxReport
  readonly attached: Duplex | null
}

/** Starts a package's sandbox, reads its limits back and sees its command begin. A failure leaves nothing behind. */
export async function launchSandbox(spec: LaunchSpec, context: OperationContext, docker: DockerContext): Promise<LaunchedSandbox> {
  const { busy } = docker
  const name = docker.toName(spec.identity.packageId)
  busy.add(name)
  try {
    const egress = await toEgress(spec, docker)
    const granted = checkMounts(spec.mounts, packageParts)
    const box = await toBox(spec, name, granted, docker)
    const started = await startContainer({ box, env: spec.env, egress, granted }, context, await docker.toContainerDeps())
    try {
      context.progress({ stage: 'read-back' })
      const report = await verify(started, { ...spec, mounts: granted }, context, docker)
      return { handle: started.handle, report, attached: started.attached }
    } catch (error) {
      await started.undo()
      context.signal.throwIfAborted()
      throw error
    }
  } finally {
    busy.delete(name)
  }
}

async function toBox(
  spec: LaunchSpec,
  name: string,
  granted: readonly MountGrant[],
  { deps, traits }: DockerContext,
): Promise<Omit<BoxSpec, 'network'>> {
  const engine = await traits()
  const stdio = engine.sameKernel && deps.stdio !== 'attach' ? 'pipes' : 'attach'
  return {
    name,
    labels: { identity: spec.identity, limits: spec.limits, network: spec.network.mode, stdio, purpose: 'package' },
    image: spec.image.id,
    command: spec.command,
    workingDirectory: '/app',
    uid: spec.uid,
    limits: spec.limits,
    unsupported: spec.allowUnenforced.filter((limit) => engine.unenforced[limit] !== undefined),
    mounts: [
      { kind: 'bind', source: deps.trees.locate(spec.tree), target: '/app', readOnly: true },
      ...(spec.data ? [toDataMount(spec.data)] : []),
      ...granted.map(toBindMount),
    ],
    logBytes: spec.logBytes,
  }
}

async function toEgress({ network, identity }: LaunchSpec, docker: DockerContext): Promise<EgressPolicy> {
  if (network.mode === 'none') return { mode: 'none' }
  const reason = network.mode === 'allow' ? allowRefused : await docker.networkRefused()
  if (reason === null) return { mode: 'internet' }
  throw new PkgdError(
    'NETWORK_UNSUPPORTED',
    `The network policy "${network.mode}" of ${identity.packageId} cannot be enforced here: ${reason}`,
    {
      hint: 'give the package no network (--network none), or run the daemon where packet filter rules can be set',
    },
  )
}

async function verify(
  { handle }: StartedContainer,
  { identity, allowUnenforced, mounts }: LaunchSpec,
  { signal }: OperationContext,
  { api, readReport, findProcess }: DockerContext,
): Promise<SandboxReport> {
  const details = await api.inspectContainer(handle.id)
  const report = await readReport(details)
  checkEnforced(report, identity.packageId, allowUnenforced)
  const { Running: ran, ExitCode: exitCode } = details.State
  const init = await findProcess(details)
  if (init !== null) await confirmMounts(mounts, init)
  if (!ran) await checkCommandFound(api, handle.id, exitCode, identity.packageId)
  else if (!(await watchStarter(api, handle.id, init, signal))) {
    // The engine learns of the end a moment after the kernel.
    await api.waitContainer(handle.id, AbortSignal.any([signal, AbortSignal.timeout(engineLagMs)]))
    const { State: ended } = await api.inspectContainer(handle.id)
    await checkCommandFound(api, handle.id, ended.ExitCode, identity.packageId)
  }
  signal.throwIfAborted()
  return report
}
