import { join } from 'node:path'
import { PkgdError } from '../../daemon/core/errors.ts'
import { packageParts } from '../../daemon/core/mountTargets.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { checkEnforced } from '../confinement/limitReading.ts'
import { checkMounts } from '../confinement/mountRules.ts'
import { checkSources } from '../confinement/mountSources.ts'
import type { EgressPolicy } from '../network/egressGuard.ts'
import type { LaunchSpec, LimitName, SandboxHandle, SandboxReport } from '../sandboxDriver.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { endSandbox } from './endSandbox.ts'
import { type BoxRequest, prepareBox } from './prepareBox.ts'
import { isAlive } from './processIdentity.ts'
import type { RuntimeRoots } from './runtimeRoots.ts'
import type { SandboxCensus } from './sandboxCensus.ts'
import { type LiveRecord, readRecord, runFile } from './sandboxRecord.ts'
import { readSandboxReport } from './sandboxReport.ts'
import { checkCommandFound, watchStarter } from './starterWatch.ts'
import { startSupervisor } from './startSupervisor.ts'

export const allowRefused = 'an allow-list of names and ports is not enforced yet'

export interface LaunchDeps {
  readonly context: BubblewrapContext
  readonly census: SandboxCensus
  readonly roots: RuntimeRoots
}

/** Starts a package's sandbox under a supervisor of its own, reads its limits back and sees its command begin. A failure leaves nothing behind. */
export async function launchSandbox(
  spec: LaunchSpec,
  operation: OperationContext,
  deps: LaunchDeps,
): Promise<{ handle: SandboxHandle; report: SandboxReport }> {
  const { context, census } = deps
  const name = context.toName(spec.identity.packageId)
  const handle = context.toHandle(name)
  await checkEnforceable(spec, context)
  const request = await toRequest(spec, name, operation, deps)
  context.busy.add(name)
  try {
    operation.progress({ stage: 'create' })
    const box = await prepareBox(request, context)
    try {
      operation.signal.throwIfAborted()
      operation.progress({ stage: 'start' })
      await startSupervisor(box, spec, join(context.deps.home.cache, 'node'))
      census.started(name)
      context.events.emit({ kind: 'started', handle })
      operation.progress({ stage: 'read-back' })
      const report = await verify(handle, spec, operation.signal, deps)
      return { handle, report }
    } catch (error) {
      await endSandbox(name, context)
      await census.ended(name).catch(() => undefined)
      await census.clear(name)
      await box.undo()
      throw error
    }
  } finally {
    context.busy.delete(name)
  }
}

/** Refuses what this host cannot hold a package to, before anything is made. */
async function checkEnforceable({ identity, allowUnenforced }: LaunchSpec, { cgroups }: BubblewrapContext): Promise<void> {
  for (const [limit, reason] of Object.entries(await cgroups.unenforced()) as [LimitName, string][]) {
    if (allowUnenforced.includes(limit)) continue
    throw new PkgdError('LIMIT_NOT_ENFORCED', `The ${limit} limit of ${identity.packageId} cannot be enforced: ${reason}`, {
      hint: `let it pass with limits.allow_unenforced: [${limit}] in pkgd.yaml, or run the daemon as root`,
    })
  }
}

async function toRequest(spec: LaunchSpec, name: string, operation: OperationContext, { context, roots }: LaunchDeps): Promise<BoxRequest> {
  const { deps } = context
  const policy = await toPolicy(spec, context)
  const granted = checkMounts(spec.mounts, packageParts)
  await checkSources(granted, { pkgd: [deps.home.root], engine: [] })
  const data = spec.data?.path ? [{ source: spec.data.path, target: '/data', readOnly: false }] : []
  return {
    name,
    identity: spec.identity,
    image: spec.image,
    root: await roots.locate(spec.image, operation),
    tree: deps.trees.locate(spec.tree),
    command: spec.command,
    env: spec.env,
    uid: spec.uid,
    limits: spec.limits,
    mounts: data,
    granted,
    policy,
    network: spec.network.mode,
    stdio: 'pipes',
    logBytes: spec.logBytes,
    builder: null,
  }
}

async function toPolicy({ network, identity }: LaunchSpec, { deps }: BubblewrapContext): Promise<EgressPolicy> {
  if (network.mode === 'none') return { mode: 'none' }
  const reason = network.mode === 'allow' ? allowRefused : await deps.egress.unavailable()
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
  handle: SandboxHandle,
  spec: LaunchSpec,
  signal: AbortSignal,
  { context, census }: LaunchDeps,
): Promise<SandboxReport> {
  const { packageId } = spec.identity
  const directory = context.directoryOf(handle.name)
  const live = await readRecord<LiveRecord>(directory, runFile.live)
  const known = await census.find(handle)
  const report = await readSandboxReport(known, context)
  checkEnforced(report, packageId, spec.allowUnenforced)
  if (live?.box) await watchStarter(live.box.main, signal)
  if (!live?.box || !(await isAlive(live.box.main))) await checkCommandFound(await census.ended(handle.name), directory, packageId)
  signal.throwIfAborted()
  return report
}
