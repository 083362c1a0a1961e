import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readKernelUsage } from '../confinement/kernelUsage.ts'
import type { DriverCapabilities, SandboxDriver } from '../sandboxDriver.ts'
import { packagePurpose } from './containerLabels.ts'
import { toSandboxStats } from './containerStats.ts'
import { checkOurs, toExit } from './containerStatus.ts'
import { dialContainer } from './dialContainer.ts'
import { createDockerContext, type DockerContext, type DockerDriverDeps } from './dockerContext.ts'
import { createDockerImages } from './dockerImages.ts'
import { createVolumes } from './dockerVolumes.ts'
import { followEngine } from './engineEvents.ts'
import { allowRefused, launchSandbox } from './launchSandbox.ts'
import { runBuild } from './runBuild.ts'
import { createSandboxCensus } from './sandboxCensus.ts'
import { createSandboxChannels } from './sandboxChannels.ts'
import { readSandboxLog } from './sandboxLog.ts'
import { isGone, stopContainer, unlessConflict } from './stopContainer.ts'

/** Sandboxes as containers of a Docker Engine, or of any engine that speaks its API. */
export function createDockerDriver(deps: DockerDriverDeps): SandboxDriver {
  const { home, daemonId, egress, log, clock } = deps
  const docker = createDockerContext(deps)
  const { api, networks, killed, inspectOurs, inspectRunning } = docker
  const images = createDockerImages({ api, builder: deps.images, references: deps.imageReferences, log })
  const census = createSandboxCensus(docker)
  const channels = createSandboxChannels(docker)
  const closed = new AbortController()

  return {
    name: 'docker',
    capabilities: () => readCapabilities(docker),
    prepareImage: (request, context) => images.prepare(request, context),
    async launch(spec, context) {
      const { handle, report, attached } = await launchSandbox(spec, context, docker)
      if (attached) channels.keep(handle, attached)
      return { handle, report }
    },
    recover: census.recover,
    list: census.list,
    events(signal) {
      const onFound = async () => {
        docker.forgetTraits()
        await egress.reassert()
      }
      const wasKilled = (id: string) => killed.has(id)
      const labels = [docker.label, packagePurpose]
      return followEngine({ api, labels, clock, log, wasKilled, onFound }, AbortSignal.any([signal, closed.signal]))
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
      channels.close(handle)
      killed.delete(handle.id)
      // A name that is not of this daemon's making names nothing that is ours to remove.
      if (!docker.isOurName(handle.name)) return
      await networks.remove(handle.name)
      if (!(await docker.traits()).sharesDisk) await docker.delivery.remove(handle.name)
      await rm(join(home.run, handle.name), { recursive: true, force: true })
    },
    inspect: async (handle) => docker.readReport(await inspectOurs(handle)),
    async stats(handle) {
      const pid = await docker.findProcess(await inspectRunning(handle))
      const usage = pid === null ? null : await readKernelUsage(pid)
      return usage ?? toSandboxStats(await api.statContainer(handle.id))
    },
    async *logs(handle, query) {
      const { stdio } = checkOurs(await inspectOurs(handle), daemonId)
      yield* readSandboxLog(api, handle.id, stdio, query)
    },
    async freeze(handle) {
      await inspectRunning(handle)
      await unlessConflict(api.pauseContainer(handle.id), /already paused/)
    },
    async thaw(handle) {
      await inspectRunning(handle)
      await unlessConflict(api.unpauseContainer(handle.id), /not paused/)
    },
    stdio: (handle) => channels.open(handle),
    async dial(handle, target) {
      const details = await inspectRunning(handle)
      return dialContainer(api, details, target, await docker.findProcess(details))
    },
    runToEnd: (spec, context) => runBuild(spec, context, docker),
    volumes: createVolumes({ daemonId, directory: home.data, api, sharesDisk: async () => (await docker.traits()).sharesDisk }),
    async [Symbol.asyncDispose]() {
      closed.abort()
      channels.closeAll()
    },
  }
}

async function readCapabilities({ deps, traits, networkRefused }: DockerContext): Promise<DriverCapabilities> {
  const [engine, reason] = await Promise.all([traits(), networkRefused()])
  return {
    driver: 'docker',
    version: engine.version,
    stdio: engine.sameKernel && deps.stdio !== 'attach' ? 'pipes' : 'attach',
    freeze: true,
    localMounts: engine.sharesDisk,
    adoption: true,
    ownPlaces: engine.sharesDisk ? engine.ownPlaces : [],
    unenforced: engine.unenforced,
    network: reason === null ? ['none', 'internet'] : ['none'],
    networkRefused: { allow: allowRefused, ...(reason !== null && { internet: reason }) },
    notes: [
      ...(engine.seccomp ? [] : ['the engine filters no system calls (seccomp is off)']),
      ...(engine.sharesDisk
        ? []
        : ["the engine does not share this host's disk: packages travel into its volumes, and nothing of the host can be mounted"]),
      ...(engine.rootless ? ['the engine runs without root: container users are users of its own range'] : []),
    ],
  }
}
