import { arch } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { PkgdError } from '../../daemon/core/errors.ts'
import { readKernelUsage } from '../confinement/kernelUsage.ts'
import { dialPort, dialSocket } from '../dial/dialSandbox.ts'
import type { DriverCapabilities, SandboxDriver, SandboxHandle, StdioChannel } from '../sandboxDriver.ts'
import { openNamedPipes } from '../stdio/namedPipes.ts'
import { type BubblewrapContext, type BubblewrapDriverDeps, createBubblewrapContext } from './bubblewrapContext.ts'
import { allowRefused, launchSandbox } from './launchSandbox.ts'
import { readLog } from './logReader.ts'
import { createPackageVolumes } from './packageVolumes.ts'
import { runBuild } from './runBuild.ts'
import { createRuntimeRoots } from './runtimeRoots.ts'
import { createSandboxCensus } from './sandboxCensus.ts'
import { runFile } from './sandboxRecord.ts'
import { readSandboxReport } from './sandboxReport.ts'
import { pickFilterArchitecture } from './seccompFilter.ts'
import { killSandbox, stopSandbox } from './stopSandbox.ts'

/** Sandboxes without a container engine: namespaces by bubblewrap, limits by cgroups, one small supervisor each that outlives the daemon. */
export function createBubblewrapDriver(deps: BubblewrapDriverDeps): SandboxDriver {
  const context = createBubblewrapContext(deps)
  const { cgroups, events, directoryOf } = context
  const census = createSandboxCensus(context)
  const roots = createRuntimeRoots(deps.images)
  const channels = new Map<string, StdioChannel | 'opening'>()

  const closeChannel = (name: string) => {
    const channel = channels.get(name)
    if (channel !== 'opening') channel?.destroy()
    channels.delete(name)
  }

  async function openChannel(handle: SandboxHandle): Promise<StdioChannel> {
    const former = channels.get(handle.name)
    if (former === 'opening' || former?.destroyed === false) {
      throw new PkgdError('CONFLICT', `The sandbox ${handle.name} has an open channel already`)
    }
    channels.set(handle.name, 'opening')
    try {
      await census.findRunning(handle)
      const channel = await openNamedPipes(join(directoryOf(handle.name), runFile.box))
      channels.set(handle.name, channel)
      return channel
    } catch (error) {
      channels.delete(handle.name)
      throw error
    }
  }

  return {
    name: 'bubblewrap',
    capabilities: () => readCapabilities(context),
    prepareImage: roots.prepare,
    launch: (spec, operation) => launchSandbox(spec, operation, { context, census, roots }),
    recover: census.recover,
    list: census.list,
    events(signal) {
      const listening = events.listen(signal)
      // Those that a former daemon started are watched from now on as well.
      census.list().catch((error: unknown) => deps.log.warn('The sandboxes could not be listed', { error: String(error) }))
      return listening
    },
    stop: (handle, graceMs) => stopSandbox(handle, graceMs, context, census),
    async destroy(handle) {
      // A name that is not of this daemon's making names nothing that is ours to remove.
      const found = await census.recover(handle)
      if (!found) return
      if (found.status.state !== 'exited') {
        await killSandbox(handle.name, context)
        await census.ended(handle.name)
      }
      closeChannel(handle.name)
      await census.clear(handle.name)
      events.emit({ kind: 'destroyed', handle })
    },
    inspect: async (handle) => readSandboxReport(await census.find(handle), context),
    async stats(handle) {
      const { record, live } = await census.findRunning(handle)
      const { memory } = await cgroups.unenforced()
      // Without cgroups of its own nothing counts what it uses: the kernel's figures would be the daemon's.
      const usage = live.box && memory === undefined ? await readKernelUsage(live.box.init.pid) : null
      return usage ?? { ...noUsage, memoryLimitBytes: record.limits.memoryBytes }
    },
    async *logs(handle, query) {
      const { exit } = await census.find(handle)
      yield* readLog(directoryOf(handle.name), query, exit === null ? census.ended(handle.name) : Promise.resolve())
    },
    async freeze(handle) {
      await census.findRunning(handle)
      const cgroup = await cgroups.open(handle.name)
      if (await cgroup.isFrozen()) return
      await cgroup.freeze()
      events.emit({ kind: 'frozen', handle })
    },
    async thaw(handle) {
      await census.findRunning(handle)
      const cgroup = await cgroups.open(handle.name)
      if (!(await cgroup.isFrozen())) return
      await cgroup.thaw()
      events.emit({ kind: 'thawed', handle })
    },
    stdio: openChannel,
    async dial(handle, target) {
      const { live } = await census.findRunning(handle)
      if (!live.box) throw new PkgdError('SANDBOX_NOT_FOUND', `The sandbox ${handle.name} has not started`)
      const { pid } = live.box.init
      return 'port' in target ? dialPort(pid, target.port) : dialSocket(pid, target.socket)
    },
    runToEnd: (spec, operation) => runBuild(spec, operation, context, roots),
    volumes: createPackageVolumes(deps.daemonId, deps.home.data),
    async [Symbol.asyncDispose]() {
      for (const name of [...channels.keys()]) closeChannel(name)
      census.close()
      await cgroups.tidy()
    },
  }
}

const noUsage = { memoryBytes: 0, cpuSeconds: 0, pids: 0, networkRxBytes: 0, networkTxBytes: 0 }

async function readCapabilities({ deps, cgroups, asRoot }: BubblewrapContext): Promise<DriverCapabilities> {
  const version = await readVersion()
  const [unenforced, unavailable] = await Promise.all([cgroups.unenforced(), deps.egress.unavailable()])
  return {
    driver: 'bubblewrap',
    version,
    stdio: 'pipes',
    freeze: unenforced.pids === undefined,
    localMounts: true,
    adoption: true,
    ownPlaces: [],
    unenforced,
    network: unavailable === null ? ['none', 'internet'] : ['none'],
    networkRefused: { allow: allowRefused, ...(unavailable !== null && { internet: unavailable }) },
    notes: [
      ...(asRoot ? [] : ['the daemon does not run as root: packages run as its own user, held by namespaces alone']),
      ...(pickFilterArchitecture(arch()) ? [] : [`no system call filter is written for ${arch()}`]),
    ],
  }
}

/** Errors: DRIVER_UNAVAILABLE when bwrap is not there or may not make namespaces. */
async function readVersion(): Promise<string> {
  const hint = 'install bubblewrap, or a container engine'
  if (process.platform !== 'linux')
    throw new PkgdError('DRIVER_UNAVAILABLE', 'bubblewrap runs on Linux alone', { hint: 'use a container engine' })
  const { stdout, failed } = await execa('bwrap', ['--version'], { reject: false })
  if (failed) throw new PkgdError('DRIVER_UNAVAILABLE', 'bubblewrap (bwrap) is not installed', { hint })
  const probe = await execa('bwrap', ['--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', 'true'], { reject: false })
  if (probe.failed) {
    throw new PkgdError('DRIVER_UNAVAILABLE', `bubblewrap cannot make namespaces here: ${probe.stderr.trim() || probe.shortMessage}`, {
      hint,
    })
  }
  return stdout.replace(/^bubblewrap\s+/, '').trim()
}
