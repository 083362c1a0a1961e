import type {
  DriverCapabilities,
  ImageRequest,
  LaunchSpec,
  PreparedImage,
  SandboxDriver,
  SandboxHandle,
} from '../../../sandbox/sandboxDriver.ts'

/**
 * The programs that the contract is told with; the first lines of `programs/<name>.mjs` say what each does. `count`, `look`, `raise` and `reach` are about
 * real processes, and so are needed of confining drivers only.
 */
export type ContractProgram = 'echo' | 'exit' | 'raise' | 'eat' | 'deaf' | 'talk' | 'listen' | 'count' | 'look' | 'reach'

/** One driver under the contract, with a home and a daemon's id of its own. Disposing it leaves nothing on the machine. */
export interface DriverBench extends AsyncDisposable {
  readonly daemonId: string
  /** The driver of the daemon that lives now. */
  readonly driver: SandboxDriver
  readonly capabilities: DriverCapabilities
  readonly image: PreparedImage
  readonly request: ImageRequest
  /** Digest of a tree that holds the programs. */
  readonly tree: string
  /** The programs' directory, readable by every user. */
  readonly programs: string
  /** The address by which another package would call a sandbox, or null where it has none. */
  addressOf(handle: SandboxHandle): Promise<string | null>
  /** Whether a sandbox is a real process that is really held: false for a driver in memory. */
  readonly confines: boolean
  command(program: ContractProgram, ...args: readonly string[]): string[]
  /** The daemon's sudden death, and the next one on the same home: `driver` is then a new one. */
  nextDaemon(): Promise<void>
  /** A host directory for mounts, with a file `hello` in it; gone with the bench. */
  directory(): Promise<string>
  /** What of this daemon's is on the machine: sandboxes, networks, control groups, run directories, each by name. */
  traces(): Promise<string[]>
  /** All that the engine or the driver keeps about how a sandbox is configured: where no value of its env may be. */
  configuration(handle: SandboxHandle): Promise<string>
  /** Something running that is another's and looks like ours; what became of it after the test. Null where there is no such thing. */
  readonly foreign: (() => Promise<{ handle: SandboxHandle; isUntouched(): Promise<boolean> } & AsyncDisposable>) | null
}

const megabyte = 1 << 20

/** The spec of a small sandbox that runs `command`. */
export function toLaunchSpec(
  bench: DriverBench,
  packageId: string,
  command: readonly string[],
  changes: Partial<LaunchSpec> = {},
): LaunchSpec {
  return {
    identity: { daemon: bench.daemonId, packageId, version: '1.0.0', spec: 'contract' },
    image: bench.image,
    tree: bench.tree,
    command,
    env: {},
    uid: 210_000,
    limits: { memoryBytes: 128 * megabyte, cpus: 0.5, pids: 64, tmpBytes: 16 * megabyte },
    network: { mode: 'none' },
    mounts: [],
    data: null,
    logBytes: megabyte,
    allowUnenforced: [],
    ...changes,
  }
}

export const plainContext = () => ({ signal: new AbortController().signal, progress: () => undefined })
