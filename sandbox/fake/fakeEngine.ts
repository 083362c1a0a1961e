import { randomUUID } from 'node:crypto'
import { PkgdError } from '../../daemon/core/errors.ts'
import { type Clock, systemClock } from '../../daemon/core/ports.ts'
import type { DriverCapabilities, LaunchSpec, SandboxEvent, SandboxHandle, SandboxInfo, VolumeRef } from '../sandboxDriver.ts'
import { createFakeLog, type FakeLog } from './fakeLog.ts'
import { type FakeProcess, startFakeProcess } from './fakeProcess.ts'
import type { FakeProgram } from './fakeProgram.ts'

/** What a fake engine is made of. */
export interface FakeScript {
  /** Programs by the first word of a command; a command that is not among them is COMMAND_NOT_FOUND. */
  readonly programs: Readonly<Record<string, FakeProgram>>
  readonly clock?: Clock
  /** What differs from the capabilities of a driver that can do everything. */
  readonly capabilities?: Partial<DriverCapabilities>
}

/** What a hook of `before` can hold back or fail. */
export type FakeOperation = 'prepareImage' | 'launch' | 'list' | 'recover' | 'stop' | 'destroy' | 'stdio' | 'freeze' | 'thaw'

export interface FakeSandbox {
  readonly handle: SandboxHandle
  readonly spec: LaunchSpec
  readonly process: FakeProcess
  readonly log: FakeLog
  readonly startedAt: string
  frozen: boolean
  /** The open channel; a sandbox has one at a time. */
  channel: ReturnType<FakeProcess['open']> | null
}

/**
 * The engine behind fake drivers: sandboxes, images and volumes in memory. It outlives the drivers opened on it, as a real engine outlives daemons.
 * `kill`, `oom`, `remove`, `freeze`, `thaw` are what somebody does behind the daemon's back.
 */
export interface FakeEngine {
  readonly clock: Clock
  readonly script: FakeScript
  readonly volumes: Map<string, { readonly packageId: string; readonly ref: VolumeRef; readonly daemon: string }>
  /** Image ids that are cached. */
  readonly images: Set<string>
  readonly sandboxes: ReadonlyMap<string, FakeSandbox>
  kill(id: string, signal?: string): void
  oom(id: string): void
  /** Resolves when its end and its removal are told. */
  remove(id: string): Promise<void>
  freeze(id: string): void
  thaw(id: string): void
  /** The engine stops answering; with `killing` its sandboxes die with it. What happens meanwhile is told to nobody. */
  lose(reason: string, options?: { readonly killing: boolean }): void
  find(): void
  /** Runs `hook` before each such operation until it is taken back; what it throws fails the operation. */
  before(operation: FakeOperation, hook: (subject: string) => void | Promise<void>): () => void
  /** For drivers: passes the hooks and fails with ENGINE_UNREACHABLE while the engine is lost. */
  enter(operation: FakeOperation, subject: string): Promise<void>
  launch(spec: LaunchSpec): FakeSandbox
  subscribe(daemon: string, listener: (event: SandboxEvent) => void): () => void
  /** For `list`: by label. */
  describe(sandbox: FakeSandbox): SandboxInfo
}

export function createFakeEngine(script: FakeScript): FakeEngine {
  const clock = script.clock ?? systemClock
  const sandboxes = new Map<string, FakeSandbox>()
  const listeners = new Set<{ readonly daemon: string; readonly listener: (event: SandboxEvent) => void }>()
  const hooks = new Map<FakeOperation, Set<(subject: string) => void | Promise<void>>>()
  let lost: string | null = null

  const tell = (daemon: string | null, event: SandboxEvent) => {
    for (const each of [...listeners]) if (daemon === null || each.daemon === daemon) each.listener(event)
  }
  const happened = (sandbox: FakeSandbox, event: SandboxEvent) => {
    if (lost === null) tell(sandbox.spec.identity.daemon, event)
  }
  const the = (id: string): FakeSandbox => {
    const sandbox = sandboxes.get(id)
    if (!sandbox) throw new PkgdError('SANDBOX_NOT_FOUND', `The sandbox ${id} no longer exists`)
    return sandbox
  }

  return {
    clock,
    script,
    volumes: new Map(),
    images: new Set(),
    sandboxes,
    kill: (id, signal = 'SIGKILL') => the(id).process.signal(signal),
    oom: (id) => the(id).process.killForMemory(),
    async remove(id) {
      const sandbox = the(id)
      sandbox.process.signal('SIGKILL')
      sandboxes.delete(id)
      sandbox.channel?.destroy()
      // Whoever waits for the end longest is told first: the removal comes after it.
      await sandbox.process.exit
      happened(sandbox, { kind: 'destroyed', handle: sandbox.handle })
    },
    freeze(id) {
      const sandbox = the(id)
      sandbox.process.freeze()
      sandbox.frozen = true
      happened(sandbox, { kind: 'frozen', handle: sandbox.handle })
    },
    thaw(id) {
      const sandbox = the(id)
      sandbox.process.thaw()
      sandbox.frozen = false
      happened(sandbox, { kind: 'thawed', handle: sandbox.handle })
    },
    lose(reason, options) {
      if (lost !== null) return
      lost = reason
      if (options?.killing) for (const sandbox of sandboxes.values()) sandbox.process.signal('SIGKILL')
      tell(null, { kind: 'lost', reason })
    },
    find() {
      if (lost === null) return
      lost = null
      tell(null, { kind: 'found' })
    },
    before(operation, hook) {
      const set = hooks.get(operation) ?? new Set()
      hooks.set(operation, set.add(hook))
      return () => set.delete(hook)
    },
    async enter(operation, subject) {
      for (const hook of [...(hooks.get(operation) ?? [])]) await hook(subject)
      if (lost !== null) throw new PkgdError('ENGINE_UNREACHABLE', `The fake engine does not answer: ${lost}`)
    },
    launch(spec) {
      const program = script.programs[spec.command[0] ?? '']
      if (!program) {
        throw new PkgdError('COMMAND_NOT_FOUND', `The command ${spec.command[0]} is not in the image`, {
          hint: `programs of this engine: ${Object.keys(script.programs).join(', ')}`,
        })
      }
      const id = randomUUID().replaceAll('-', '')
      const log = createFakeLog(clock, spec.logBytes)
      const sandbox: FakeSandbox = {
        handle: { driver: 'fake', id, name: `pkgd-${spec.identity.daemon}-${spec.identity.packageId}` },
        spec,
        process: startFakeProcess({ program, spec, log, clock }),
        log,
        startedAt: new Date(clock.now()).toISOString(),
        frozen: false,
        channel: null,
      }
      sandboxes.set(id, sandbox)
      happened(sandbox, { kind: 'started', handle: sandbox.handle })
      void sandbox.process.exit.then((exit) => happened(sandbox, { kind: 'exited', handle: sandbox.handle, exit }))
      return sandbox
    },
    subscribe(daemon, listener) {
      const entry = { daemon, listener }
      listeners.add(entry)
      if (lost !== null) listener({ kind: 'lost', reason: lost })
      return () => listeners.delete(entry)
    },
    describe(sandbox) {
      const { ended } = sandbox.process
      return {
        handle: sandbox.handle,
        identity: sandbox.spec.identity,
        status: ended ? { state: 'exited', exit: ended } : { state: sandbox.frozen ? 'frozen' : 'running', startedAt: sandbox.startedAt },
      }
    },
  }
}
