import { findCoded, PkgdError } from '../../daemon/core/errors.ts'
import type { SandboxExit } from '../../daemon/core/types.ts'
import type { DriverCapabilities, SandboxDriver, SandboxEvent, SandboxHandle } from '../sandboxDriver.ts'
import { createEventFeed } from './eventFeed.ts'
import type { FakeEngine, FakeSandbox } from './fakeEngine.ts'
import { toFakeReport } from './fakeReport.ts'
import { runFakeBuild } from './runFakeBuild.ts'

/** A driver whose sandboxes are functions in this process: for tests, and for authors who want a lifecycle without an engine. */
export interface FakeDriver extends SandboxDriver {
  /** As if the daemon's process was killed: its channels are let go, what it had under way or asks later never settles. Sandboxes go on. */
  die(): void
}

export interface FakeDriverOptions {
  readonly engine: FakeEngine
  /** The daemon's id: whose sandboxes `list` and `events` show. */
  readonly daemon: string
}

export function createFakeDriver({ engine, daemon }: FakeDriverOptions): FakeDriver {
  const closed = new AbortController()
  let dead = false

  const capabilities: DriverCapabilities = {
    driver: 'fake',
    version: '1',
    stdio: 'pipes',
    freeze: true,
    localMounts: true,
    adoption: true,
    ownPlaces: [],
    unenforced: {},
    network: ['none', 'internet'],
    networkRefused: { allow: 'an allow-list is not enforced by this driver' },
    notes: ['programs are functions in the process of their maker: nothing is confined'],
    ...engine.script.capabilities,
  }

  /** A dead daemon's operations stop where they are. */
  const alive = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const value = await work
      return dead ? await new Promise<never>(() => undefined) : value
    } catch (error) {
      if (dead) return new Promise<never>(() => undefined)
      throw error
    }
  }
  const find = (handle: SandboxHandle): FakeSandbox => {
    const sandbox = engine.sandboxes.get(handle.id)
    if (!sandbox || sandbox.spec.identity.daemon !== daemon) {
      throw new PkgdError('SANDBOX_NOT_FOUND', `The sandbox ${handle.name} no longer exists`)
    }
    return sandbox
  }
  const enter = async (operation: Parameters<FakeEngine['enter']>[0], handle: SandboxHandle) => {
    await alive(engine.enter(operation, handle.name))
    return find(handle)
  }
  const running = (sandbox: FakeSandbox): FakeSandbox => {
    if (sandbox.process.ended) throw new PkgdError('SANDBOX_NOT_FOUND', `The sandbox ${sandbox.handle.name} has ended`)
    return sandbox
  }
  const letGo = () => {
    for (const sandbox of engine.sandboxes.values()) if (sandbox.spec.identity.daemon === daemon) sandbox.channel?.destroy()
  }

  return {
    name: 'fake',
    capabilities: async () => capabilities,
    async prepareImage(request, context) {
      const id = 'runtime' in request ? `fake:${request.runtime}` : request.reference
      const origin = engine.images.has(id) ? 'cached' : 'built'
      context.progress({ stage: 'build', message: id })
      await alive(engine.enter('prepareImage', id))
      context.signal.throwIfAborted()
      engine.images.add(id)
      return { id, request, origin, runtimes: { node: process.versions.node } }
    },
    async launch(spec, context) {
      const report = toFakeReport(spec, capabilities)
      await alive(engine.enter('launch', spec.identity.packageId))
      context.signal.throwIfAborted()
      const { handle } = engine.launch(spec)
      return alive(Promise.resolve({ handle, report }))
    },
    async recover(handle) {
      await alive(engine.enter('recover', handle.name))
      const sandbox = engine.sandboxes.get(handle.id)
      return sandbox?.spec.identity.daemon === daemon ? engine.describe(sandbox) : undefined
    },
    async list() {
      await alive(engine.enter('list', daemon))
      return [...engine.sandboxes.values()].filter((sandbox) => sandbox.spec.identity.daemon === daemon).map(engine.describe)
    },
    events(signal) {
      const feed = createEventFeed<SandboxEvent>()
      const unsubscribe = engine.subscribe(daemon, (event) => dead || feed.push(event))
      return feed.drain(AbortSignal.any([signal, closed.signal]), unsubscribe)
    },
    async stop(handle, graceMs) {
      const sandbox = await enter('stop', handle)
      const { process } = sandbox
      if (sandbox.frozen) engine.thaw(handle.id)
      process.signal('SIGTERM')
      const cancel = engine.clock.after(graceMs, () => process.signal('SIGKILL'))
      const exit: SandboxExit = await alive(process.exit)
      cancel()
      return exit
    },
    async destroy(handle) {
      try {
        await enter('destroy', handle)
      } catch (error) {
        if (findCoded(error)?.code === 'SANDBOX_NOT_FOUND') return
        throw error
      }
      await alive(engine.remove(handle.id))
    },
    async inspect(handle) {
      return toFakeReport(find(handle).spec, capabilities)
    },
    async stats(handle) {
      const { process, spec } = running(find(handle))
      return {
        memoryBytes: process.memoryBytes,
        memoryLimitBytes: spec.limits.memoryBytes,
        cpuSeconds: 0,
        pids: 1,
        networkRxBytes: 0,
        networkTxBytes: 0,
      }
    },
    async *logs(handle, query) {
      yield* find(handle).log.read(query)
    },
    async freeze(handle) {
      const sandbox = running(await enter('freeze', handle))
      if (!sandbox.frozen) engine.freeze(handle.id)
    },
    async thaw(handle) {
      const sandbox = running(await enter('thaw', handle))
      if (sandbox.frozen) engine.thaw(handle.id)
    },
    async stdio(handle) {
      const sandbox = running(await enter('stdio', handle))
      if (sandbox.channel && !sandbox.channel.destroyed) {
        throw new PkgdError('CONFLICT', `The sandbox ${handle.name} has an open channel already`)
      }
      sandbox.channel = sandbox.process.open()
      return sandbox.channel
    },
    async dial(handle, target) {
      return running(find(handle)).process.dial(target)
    },
    runToEnd: (spec, context) => alive(runFakeBuild(engine, spec, context)),
    volumes: {
      async ensure(packageId) {
        const name = `pkgd-${daemon}-${packageId}-data`
        const ref = engine.volumes.get(name)?.ref ?? { name, path: null }
        engine.volumes.set(name, { packageId, ref, daemon })
        return ref
      },
      async remove(packageId) {
        engine.volumes.delete(`pkgd-${daemon}-${packageId}-data`)
      },
      async list() {
        return [...engine.volumes.values()]
          .filter((volume) => volume.daemon === daemon)
          .map(({ packageId, ref }) => ({ packageId, name: ref.name }))
      },
    },
    die() {
      dead = true
      letGo()
    },
    async [Symbol.asyncDispose]() {
      closed.abort()
      letGo()
    },
  }
}
