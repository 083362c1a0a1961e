import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../../daemon/config/config.ts'
import type { CloudEvent } from '../../../../daemon/core/events.ts'
import { locateHome } from '../../../../daemon/core/home.ts'
import type { Logger } from '../../../../daemon/core/ports.ts'
import { createEventBus } from '../../../../daemon/events/createEventBus.ts'
import { createLifecycle } from '../../../../daemon/lifecycle/createLifecycle.ts'
import type { Lifecycle } from '../../../../daemon/lifecycle/lifecycle.ts'
import type { LifecycleDeps } from '../../../../daemon/lifecycle/lifecycleDeps.ts'
import { openState } from '../../../../daemon/store/openState.ts'
import type { PackageRecord, State } from '../../../../daemon/store/state.ts'
import type { Manifest } from '../../../../registry/manifest/manifest.ts'
import { createFakeDriver, type FakeDriver } from '../../../../sandbox/fake/fakeDriver.ts'
import { createFakeEngine, type FakeEngine } from '../../../../sandbox/fake/fakeEngine.ts'
import type { FakeProgram } from '../../../../sandbox/fake/fakeProgram.ts'
import { eatMemory, echoLines, exitWith, hang, ignoreTerm, printGarbage } from '../../../../sandbox/fake/fakePrograms.ts'
import { createLineHost, type LineHost } from './lineHost.ts'
import { createManualClock, type ManualClock } from './manualClock.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

/** A server that cannot be stopped kindly. */
const deafEcho: FakeProgram = (context) => {
  context.onTerm(() => undefined)
  return echoLines(context)
}

export const programs = {
  echo: echoLines,
  exit: exitWith,
  eat: eatMemory,
  hang,
  deaf: ignoreTerm,
  'deaf-echo': deafEcho,
  garbage: printGarbage,
}

export const testConfig: Config['lifecycle'] = {
  parallel: 4,
  pullTimeoutMs: 60_000,
  bootTimeoutMs: 10_000,
  handshakeTimeoutMs: 30_000,
  stopGraceMs: 3_000,
  stableMs: 600_000,
}

export interface PackageOptions {
  readonly command?: readonly string[]
  readonly needs?: readonly string[]
  readonly start?: Manifest['start']
  readonly restart?: Partial<Manifest['restart']>
  readonly health?: Partial<Manifest['health']>
  readonly env?: Readonly<Record<string, string>>
  readonly type?: Manifest['type']
  readonly version?: string
}

const mebibyte = 1024 * 1024

export function toRecord(id: string, options: PackageOptions = {}): PackageRecord {
  const command = options.command ?? ['echo']
  const version = options.version ?? '1.0.0'
  return {
    id,
    version,
    manifest: {
      id,
      name: id,
      version,
      keywords: [],
      type: options.type ?? 'mcp-server',
      entry: {
        kind: 'mcp',
        command: command[0] ?? '',
        args: command.slice(1),
        env: {},
        envRequired: [],
        transport: { kind: 'stdio' },
        sessions: 'auto',
      },
      sandbox: {
        network: false,
        data: false,
        mounts: [],
        memoryBytes: 64 * mebibyte,
        cpus: 1,
        pids: 16,
        tmpBytes: mebibyte,
      },
      config: {},
      dependencies: { pypi: [], npm: [], extensions: Object.fromEntries((options.needs ?? []).map((each) => [each, '*'])) },
      restart: { policy: 'on-failure', maxRetries: 5, windowMs: 600_000, ...options.restart },
      health: { intervalMs: 30_000, timeoutMs: 5_000, retries: 3, ...options.health },
      start: options.start ?? { mode: 'eager' },
    },
    manifestOrigin: 'file',
    resolution: { kind: 'folder', path: '/nowhere' },
    tree: 'sha512-0',
    command,
    env: options.env ?? {},
    secrets: [],
    grants: {
      network: { mode: 'none' },
      data: false,
      mounts: [],
      limits: { memoryBytes: 64 * mebibyte, cpus: 1, pids: 16, tmpBytes: mebibyte },
    },
    uid: 200000,
    installedAt: '2026-01-01T00:00:00.000Z',
  }
}

/** One life of a daemon. */
export interface Daemon {
  readonly lifecycle: Lifecycle
  readonly driver: FakeDriver
  readonly host: LineHost
  readonly clock: ManualClock
}

/** A home, an engine, and one daemon after the other on both. */
export interface Bench extends AsyncDisposable {
  readonly engine: FakeEngine
  readonly state: State
  readonly events: CloudEvent[]
  readonly clock: ManualClock
  readonly now: Daemon
  /** A daemon that is not open yet. */
  boot(over?: Partial<LifecycleDeps>): Daemon
  /** SIGKILL: what the daemon had under way never goes on. */
  kill(): void
  install(id: string, options?: PackageOptions): void
  /** Running sandboxes of a package, as the engine knows them. */
  running(id: string): string[]
}

export function createBench(): Bench {
  const root = mkdtempSync(join(tmpdir(), 'pkgd-lifecycle-'))
  const home = locateHome({ PKGD_HOME: root })
  const engineClock = createManualClock()
  const engine = createFakeEngine({ programs, clock: engineClock })
  const events: CloudEvent[] = []
  const open = () => openState({ home, clock: engineClock, log: silent })
  let state = open()
  let daemon: Daemon | null = null

  const boot = (over: Partial<LifecycleDeps> = {}): Daemon => {
    const clock: ManualClock = {
      ...engineClock,
      after(ms, fn) {
        return engineClock.after(ms, () => alive && fn())
      },
      die() {
        alive = false
      },
    }
    let alive = true
    const driver = createFakeDriver({ engine, daemon: state.daemonId })
    const host = createLineHost()
    const bus = createEventBus({
      events: state.events,
      source: 'test',
      keep: () => ({ keepMs: 3_600_000, keepAtMost: 10_000 }),
      clock: engineClock,
      log: silent,
    })
    bus.subscribe('*', (event) => events.push(event))
    const lifecycle = createLifecycle({
      state,
      driver,
      store: { verify: async () => [] },
      hosts: { 'mcp-server': host, 'a2a-agent': null, 'internal-hook': null },
      bus,
      config: () => ({ lifecycle: testConfig, limits: { logBytes: 65_536, allowUnenforced: [] } }),
      clock,
      random: () => 0.5,
      log: silent,
      planLaunch: (record) => ({ image: { runtime: 'node' }, command: record.command, env: record.env }),
      ...over,
    })
    daemon = { lifecycle, driver, host, clock }
    return daemon
  }

  return {
    engine,
    events,
    clock: engineClock,
    get state() {
      return state
    },
    get now() {
      return daemon ?? boot()
    },
    boot,
    kill() {
      daemon?.driver.die()
      daemon?.clock.die()
      daemon = null
      state[Symbol.dispose]()
      state = open()
    },
    install(id, options) {
      state.packages.put(toRecord(id, options))
    },
    running: (id) =>
      [...engine.sandboxes.values()]
        .filter(({ spec, process }) => spec.identity.packageId === id && !process.ended)
        .map(({ handle }) => handle.id),
    async [Symbol.asyncDispose]() {
      await daemon?.lifecycle[Symbol.asyncDispose]()
      await daemon?.driver[Symbol.asyncDispose]()
      state[Symbol.dispose]()
      for (const sandbox of engine.sandboxes.values()) sandbox.process.signal('SIGKILL')
      rmSync(root, { recursive: true, force: true })
    },
  }
}
