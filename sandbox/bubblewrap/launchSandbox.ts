import { spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { OperationContext } from '../../daemon/core/ports.ts'
import { checkEnforced } from '../confinement/limitReading.ts'
import { checkMounts, packageTargets } from '../confinement/mountRules.ts'
import type { EgressPolicy } from '../network/egressGuard.ts'
import type { LaunchSpec, LimitName, SandboxHandle, SandboxReport } from '../sandboxDriver.ts'
import { boxMountPoint, commandNotFoundExit, parseCommandNotFound } from '../starter/starterCommand.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { endSandbox } from './endSandbox.ts'
import { createLiveness } from './liveness.ts'
import { readLog } from './logReader.ts'
import { type BoxRequest, type PreparedBox, prepareBox } from './prepareBox.ts'
import { isAlive, type ProcessIdentity } from './processIdentity.ts'
import type { RuntimeRoots } from './runtimeRoots.ts'
import type { SandboxCensus } from './sandboxCensus.ts'
import { type LiveRecord, readRecord, runFile, writeRecord } from './sandboxRecord.ts'
import { readSandboxReport } from './sandboxReport.ts'
import type { SupervisorOrders, SupervisorReply } from './supervisor.ts'

export const allowRefused = 'an allow-list of names and ports is not enforced yet'

/** A supervisor waits: it needs no threads to compile with and next to no memory. */
const supervisorFlags = ['--max-old-space-size=32', '--v8-pool-size=0']
const supervisor = join(import.meta.dirname, `supervisor${extname(import.meta.filename)}`)

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
      void census.ended(name)
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
    mounts: [...data, ...checkMounts(spec.mounts, packageTargets)],
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

/** Resolves once the package's user is taken on and its command is about to be executed. */
async function startSupervisor({ orders, cgroup }: PreparedBox, { logBytes, identity }: LaunchSpec, compileCache: string): Promise<void> {
  const { directory } = orders
  await createLiveness(directory)
  const whole: SupervisorOrders = { ...orders, logBytes, roll: cgroup.roll, oomCounter: cgroup.oomCounter }
  await writeRecord(directory, runFile.orders, whole)
  const complaints = await open(join(directory, 'supervisor.err'), 'a', 0o600)
  const child = spawn(process.execPath, [...supervisorFlags, supervisor, directory], {
    stdio: ['ignore', 'pipe', complaints.fd],
    detached: true,
    cwd: '/',
    // Compiled code is kept: a supervisor then starts in half the time and takes half the memory.
    env: { PATH: process.env.PATH ?? '', UV_THREADPOOL_SIZE: '1', NODE_COMPILE_CACHE: compileCache },
  })
  child.unref()
  try {
    const reply = child.stdout ? await readReply(child.stdout, child) : undefined
    if (reply?.ready) return
    const said = reply?.failure || (await readFile(join(directory, 'supervisor.err'), 'utf8')).slice(-2000)
    throw new PkgdError('START_FAILED', `The sandbox of ${identity.packageId} could not be started: ${said.trim() || 'bwrap said nothing'}`)
  } finally {
    child.stdout?.destroy()
    await complaints.close()
  }
}

async function readReply(stdout: NodeJS.ReadableStream, child: NodeJS.EventEmitter): Promise<SupervisorReply | undefined> {
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  const read = async () => {
    let text = ''
    for await (const chunk of stdout) {
      text += String(chunk)
      if (text.includes('\n')) return JSON.parse(text) as SupervisorReply
    }
    return undefined
  }
  return Promise.race([read(), failed])
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
  if (!live?.box || !(await isAlive(live.box.main))) await checkCommandFound(handle, packageId, { context, census })
  signal.throwIfAborted()
  return report
}

/** The kernel has no event for an exec, so the process is looked at until it is no longer the starter, or gone; that takes a millisecond or two. */
async function watchStarter(main: ProcessIdentity, signal: AbortSignal): Promise<void> {
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

/** Throws COMMAND_NOT_FOUND when a sandbox that has ended ended because its command is not there. */
async function checkCommandFound(handle: SandboxHandle, packageId: string, { context, census }: Omit<LaunchDeps, 'roots'>): Promise<void> {
  const exit = await census.ended(handle.name)
  if (exit.kind !== 'exit' || exit.code !== commandNotFoundExit) return
  const query = { follow: false, tail: 5, signal: new AbortController().signal }
  for await (const { line } of readLog(context.directoryOf(handle.name), query, Promise.resolve())) {
    const command = parseCommandNotFound(line)
    if (command !== undefined) throw toCommandNotFound(command, packageId)
  }
}

export const toCommandNotFound = (command: string, packageId: string): PkgdError =>
  new PkgdError('COMMAND_NOT_FOUND', `The command ${command} of ${packageId} is not in its image or package`, {
    hint: "check the command in the package's manifest",
  })
