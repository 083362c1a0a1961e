import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { hasCode, PkgdError } from '../../daemon/core/errors.ts'
import type { Home } from '../../daemon/core/home.ts'
import type { Clock, Logger, OperationContext } from '../../daemon/core/ports.ts'
import type { ImageBuilder } from '../images/imageBuilder.ts'
import type { Runtime } from '../images/imageSources.ts'
import type { EgressGuard, EgressPolicy } from '../network/egressGuard.ts'
import type { BuildSpec, LaunchSpec, SandboxDriver, SandboxHandle, SandboxInfo, SandboxReport, TreeSource } from '../sandboxDriver.ts'
import { attachStdio } from '../stdio/attachStdio.ts'
import { openNamedPipes } from '../stdio/namedPipes.ts'
import { daemonLabel } from './containerLabels.ts'
import { toSandboxStats } from './containerStats.ts'
import { checkOurs, toExit, toSandboxInfo } from './containerStatus.ts'
import { dialContainer } from './dialContainer.ts'
import { createDockerImages } from './dockerImages.ts'
import { createDockerNetworks } from './dockerNetworks.ts'
import { createVolumes } from './dockerVolumes.ts'
import { type ContainerDetails, createEngineApi } from './engineApi.ts'
import { pickEngineEndpoint } from './engineEndpoint.ts'
import { followEngine } from './engineEvents.ts'
import { type EngineTraits, probeEngine } from './engineTraits.ts'
import { hasSwap, readKernel, unreadKernel } from './kernelReading.ts'
import { boxDirectoryOf, startContainer } from './launchContainer.ts'
import { readLogEntries, readLogFrames } from './logFrames.ts'
import { giveMounts, runBuild } from './runBuild.ts'
import { buildTargets, packageTargets, toDataMount, toMounts } from './sandboxMounts.ts'
import { checkEnforced, toSandboxReport } from './sandboxReport.ts'
import { checkCommandFound, watchStarter } from './starterWatch.ts'
import { isGone, stopContainer, unlessConflict } from './stopContainer.ts'

export interface DockerDriverDeps {
  readonly home: Home
  /** 8 lowercase hex: whose containers are ours. */
  readonly daemonId: string
  readonly trees: TreeSource
  readonly images: ImageBuilder
  /** Images to pull for the runtimes instead of building them. */
  readonly imageReferences: Readonly<Partial<Record<Runtime, string>>>
  readonly egress: EgressGuard
  readonly log: Logger
  readonly clock: Clock
  /** Where DOCKER_HOST is looked up; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** `auto` is pipes where the engine shares this disk. */
  readonly stdio?: 'auto' | 'attach'
}

/** Sandboxes as containers of a Docker Engine, or of any engine that speaks its API. */
export function createDockerDriver(deps: DockerDriverDeps): SandboxDriver {
  const { home, daemonId, trees, egress, log, clock } = deps
  const endpoint = pickEngineEndpoint(deps.env ?? process.env)
  const api = createEngineApi(endpoint)
  const images = createDockerImages({ api, builder: deps.images, references: deps.imageReferences, log })
  const networks = createDockerNetworks({ api, egress, daemonId })
  const label = daemonLabel(daemonId)
  /** Names of what is being made or is being built: not yet, or never, anybody's to adopt. */
  const busy = new Set<string>()
  const killed = new Set<string>()
  const attached = new Map<string, Duplex>()
  const channels = new Map<string, Duplex>()
  const closed = new AbortController()
  let known: Promise<EngineTraits> | undefined
  let swept: Promise<void> | undefined

  const traits = async (): Promise<EngineTraits> => {
    known ??= probeEngine({ api, endpoint, daemonId, cache: home.cache, scratch: home.tmp })
    try {
      return await known
    } catch (error) {
      known = undefined
      throw error
    }
  }
  const sharesDisk = async () => (await traits()).sharesDisk
  const toName = (packageId: string) => `pkgd-${daemonId}-${packageId}-${randomBytes(3).toString('hex')}`

  const inspectOurs = async ({ id }: SandboxHandle): Promise<ContainerDetails> => {
    const details = await api.inspectContainer(id)
    checkOurs(details, daemonId)
    return details
  }
  const runningOurs = async (handle: SandboxHandle): Promise<ContainerDetails> => {
    const details = await inspectOurs(handle)
    if (!details.State.Running) throw new PkgdError('SANDBOX_NOT_FOUND', `The sandbox ${handle.name} has ended`)
    return details
  }
  const readReport = async (details: ContainerDetails, { sameKernel }: EngineTraits): Promise<SandboxReport> => {
    const kernel = sameKernel && details.State.Pid > 0 ? await readKernel(details.State.Pid) : unreadKernel
    return toSandboxReport({ details, kernel, swap: sameKernel && (await hasSwap()) })
  }

  async function launch(spec: LaunchSpec, context: OperationContext) {
    const { identity } = spec
    const engine = await traits()
    const egressPolicy = await toEgress(spec)
    const stdio = engine.sharesDisk && deps.stdio !== 'attach' ? 'pipes' : 'attach'
    const name = toName(identity.packageId)
    busy.add(name)
    try {
      const started = await startContainer(
        {
          env: spec.env,
          egress: egressPolicy,
          box: {
            name,
            labels: { identity, limits: spec.limits, network: spec.network.mode, stdio, purpose: 'package' },
            image: spec.image.id,
            command: spec.command,
            workingDirectory: '/app',
            uid: spec.uid,
            limits: spec.limits,
            unsupported: spec.allowUnenforced.filter((limit) => engine.unenforced[limit] !== undefined),
            mounts: [
              { kind: 'bind', source: trees.locate(spec.tree), target: '/app', readOnly: true },
              ...(spec.data ? [toDataMount(spec.data)] : []),
              ...toMounts(spec.mounts, packageTargets),
            ],
            logBytes: spec.logBytes,
          },
        },
        context,
        { api, networks, run: home.run },
      )
      const { handle } = started
      try {
        context.progress({ stage: 'read-back' })
        let details = await api.inspectContainer(handle.id)
        const report = await readReport(details, engine)
        checkEnforced(report, identity.packageId, spec.allowUnenforced)
        if (engine.sameKernel && details.State.Pid > 0) await watchStarter(details.State.Pid, context.signal)
        if (!(await stillRuns(details))) {
          details = await api.inspectContainer(handle.id)
          if (!details.State.Running) await checkCommandFound(api, handle.id, details.State.ExitCode, identity.packageId)
        }
        context.signal.throwIfAborted()
        if (started.attached) attached.set(handle.id, started.attached)
        return { handle, report }
      } catch (error) {
        await started.undo()
        throw error
      }
    } finally {
      busy.delete(name)
    }
  }

  async function toEgress(spec: LaunchSpec): Promise<EgressPolicy> {
    if (spec.network.mode === 'none') return { mode: 'none' }
    const reason = spec.network.mode === 'allow' ? allowRefused : await egress.unavailable()
    if (reason === null) return { mode: 'internet' }
    throw new PkgdError(
      'NETWORK_UNSUPPORTED',
      `The network policy "${spec.network.mode}" of ${spec.identity.packageId} cannot be enforced here: ${reason}`,
      {
        hint: 'give the package no network (--network none), or run the daemon where packet filter rules can be set',
      },
    )
  }

  return {
    name: 'docker',
    async capabilities() {
      const [engine, unavailable] = await Promise.all([traits(), egress.unavailable()])
      const filtered = unavailable ?? (engine.sharesDisk ? null : "the container engine's network is not on this host")
      return {
        driver: 'docker',
        version: engine.version,
        stdio: engine.sharesDisk && deps.stdio !== 'attach' ? 'pipes' : 'attach',
        freeze: true,
        localMounts: engine.sharesDisk,
        adoption: true,
        unenforced: engine.unenforced,
        network: filtered === null ? ['none', 'internet'] : ['none'],
        networkRefused: { allow: allowRefused, ...(filtered !== null && { internet: filtered }) },
        notes: [
          ...(engine.seccomp ? [] : ['the engine filters no system calls (seccomp is off)']),
          ...(engine.rootless ? ['the engine runs without root: container users are users of its own range'] : []),
        ],
      }
    },
    prepareImage: (request, context) => images.prepare(request, context),
    launch,
    async recover(handle) {
      try {
        return await describe(await inspectOurs(handle))
      } catch (error) {
        if (isGone(error)) return undefined
        throw error
      }
    },
    async list() {
      const summaries = await api.listContainers([label])
      const names = new Set(summaries.map(({ Names }) => (Names[0] ?? '').replace(/^\//, '')))
      swept ??= sweep(names)
      await swept
      const found = await Promise.all(
        summaries.filter(({ Names, Labels }) => !isBusy(Names) && Labels['io.pkgd.package'] !== 'probe').map(({ Id }) => inspectOrNone(Id)),
      )
      return found.filter((info) => info !== undefined)
    },
    events(signal) {
      const onFound = async () => {
        known = undefined
        await egress.reassert()
      }
      const labels = [label, 'io.pkgd.purpose=package']
      return followEngine({ api, labels, clock, log, wasKilled: (id) => killed.has(id), onFound }, AbortSignal.any([signal, closed.signal]))
    },
    async stop(handle, graceMs) {
      const before = await inspectOurs(handle)
      if (!before.State.Running) return toExit(before, killed.has(handle.id))
      await stopContainer(api, clock, handle.id, graceMs, () => killed.add(handle.id))
      return toExit(await api.inspectContainer(handle.id), killed.has(handle.id))
    },
    async destroy(handle) {
      try {
        await inspectOurs(handle)
        await api.removeContainer(handle.id)
      } catch (error) {
        if (!isGone(error)) throw error
      }
      await removeTraces(handle)
    },
    async inspect(handle) {
      return readReport(await inspectOurs(handle), await traits())
    },
    async stats(handle) {
      await runningOurs(handle)
      return toSandboxStats(await api.statContainer(handle.id))
    },
    async *logs(handle, { follow, tail, signal }) {
      const details = await inspectOurs(handle)
      // Through pipes only what came before them is on the container's own stdout; with attach it is the protocol itself.
      const stdout = checkOurs(details, daemonId).stdio === 'pipes'
      const stream = await api.readLogs(handle.id, { stdout, follow, tail: tail ?? null, signal })
      try {
        yield* readLogEntries(readLogFrames(stream))
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        stream.destroy()
      }
    },
    async freeze(handle) {
      await runningOurs(handle)
      await unlessConflict(api.pauseContainer(handle.id), /already paused/)
    },
    async thaw(handle) {
      await runningOurs(handle)
      await unlessConflict(api.unpauseContainer(handle.id), /not paused/)
    },
    async stdio(handle) {
      const former = channels.get(handle.id)
      if (former && !former.destroyed) throw new PkgdError('CONFLICT', `The sandbox ${handle.name} has an open channel already`)
      const channel = await openChannel(handle)
      channels.set(handle.id, channel)
      channel.once('close', () => {
        if (channels.get(handle.id) === channel) channels.delete(handle.id)
      })
      return channel
    },
    async dial(handle, target) {
      const [details, engine] = await Promise.all([runningOurs(handle), traits()])
      return dialContainer(api, details, target, engine.sharesDisk)
    },
    runToEnd,
    volumes: createVolumes({ daemonId, directory: home.data, api, sharesDisk }),
    async [Symbol.asyncDispose]() {
      closed.abort()
      for (const channel of [...channels.values(), ...attached.values()]) channel.destroy()
      await egress.close()
    },
  }

  async function openChannel(handle: SandboxHandle): Promise<Duplex> {
    const details = await runningOurs(handle)
    if (checkOurs(details, daemonId).stdio === 'pipes') return openNamedPipes(boxDirectoryOf(home.run, handle.name))
    const early = attached.get(handle.id)
    attached.delete(handle.id)
    return attachStdio(early && !early.destroyed ? early : await api.attachContainer(handle.id))
  }

  async function runToEnd(spec: BuildSpec, context: OperationContext) {
    const { identity, limits, mounts, uid } = spec
    if (spec.reach.length > 0) {
      const reason = await egress.unavailable()
      if (reason !== null) throw new PkgdError('NETWORK_UNSUPPORTED', `A build sandbox cannot be held to its indexes here: ${reason}`)
    }
    const name = toName(`${identity.packageId}-build`)
    busy.add(name)
    try {
      await giveMounts(mounts, uid)
      const labels = { identity, limits, network: 'none', stdio: 'attach', purpose: 'build' } as const
      const box = {
        name,
        labels,
        image: spec.image.id,
        command: spec.command,
        workingDirectory: '/tmp',
        uid,
        limits,
        unsupported: [],
        mounts: toMounts(mounts, buildTargets),
        logBytes: 1 << 20,
      }
      const egressPolicy: EgressPolicy = spec.reach.length > 0 ? { mode: 'reach', targets: spec.reach } : { mode: 'none' }
      return await runBuild({ box, env: spec.env, egress: egressPolicy }, context, { api, networks, run: home.run })
    } finally {
      busy.delete(name)
    }
  }

  async function describe(details: ContainerDetails): Promise<SandboxInfo> {
    const labels = checkOurs(details, daemonId)
    const info = toSandboxInfo(details, labels, killed.has(details.Id))
    if (labels.network === 'internet' && details.State.Running) await networks.adopt(info.handle.name, details)
    return info
  }

  async function inspectOrNone(id: string): Promise<SandboxInfo | undefined> {
    try {
      return await describe(await api.inspectContainer(id))
    } catch (error) {
      // Removed since it was listed.
      if (isGone(error)) return undefined
      throw error
    }
  }

  function isBusy(names: readonly string[]): boolean {
    return names.some((name) => busy.has(name.replace(/^\//, '')))
  }

  async function removeTraces({ id, name }: SandboxHandle): Promise<void> {
    channels.get(id)?.destroy()
    attached.get(id)?.destroy()
    attached.delete(id)
    killed.delete(id)
    await networks.remove(name)
    await rm(join(home.run, name), { recursive: true, force: true })
  }

  /** Once in a life: networks and run directories of sandboxes that are gone. */
  async function sweep(live: ReadonlySet<string>): Promise<void> {
    const keep = new Set([...live, ...busy])
    await networks.sweep(keep)
    const names = await readdir(home.run).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return []
      throw error
    })
    for (const name of names) {
      if (name.startsWith(`pkgd-${daemonId}-`) && !keep.has(name)) await rm(join(home.run, name), { recursive: true, force: true })
    }
  }
}

const allowRefused = 'an allow-list of names and ports is not enforced yet'

/** False when the container's init is gone. */
async function stillRuns({ State: { Pid: pid } }: ContainerDetails): Promise<boolean> {
  if (pid === 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}
