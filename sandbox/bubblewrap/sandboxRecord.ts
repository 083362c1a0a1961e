import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../daemon/core/errors.ts'
import type { Limits, NetworkPolicy } from '../../daemon/core/types.ts'
import type { Subnet } from '../network/subnetPool.ts'
import type { SandboxIdentity } from '../sandboxDriver.ts'
import type { ProcessIdentity } from './processIdentity.ts'

/** What was asked for a sandbox: `sandbox.json` in its run directory, written before anything of it exists. Enough to adopt it, or to remove what is left. */
export interface SandboxRecord {
  readonly identity: SandboxIdentity
  readonly name: string
  readonly image: string
  readonly uid: number
  readonly limits: Limits
  readonly network: NetworkPolicy['mode']
  /** The package's own network, when it has one. */
  readonly link: { readonly interface: string; readonly subnet: Subnet } | null
  readonly logBytes: number
  /** Who must live for it to live: a package has its supervisor (live.json), a build the daemon that runs it. */
  readonly builder: ProcessIdentity | null
  readonly createdAt: string
}

/** What runs: `live.json`, written by the supervisor as its first act, and again once the package has been started. */
export interface LiveRecord {
  readonly supervisor: ProcessIdentity
  readonly box: {
    /** PID 1 of the sandbox. */
    readonly init: ProcessIdentity
    /** The package's own first process: what SIGTERM goes to. */
    readonly main: ProcessIdentity
  } | null
  readonly startedAt: string
}

/** How it ended: `status.json`, written by the supervisor by rename. */
export interface StatusRecord {
  /** As a shell would say it: 128 + n for signal n. */
  readonly code: number
  readonly oomKills: number
  readonly at: string
  /** Set when the package never got to run: what bwrap said. */
  readonly failure?: string
}

/** Names in a sandbox's run directory. */
export const runFile = {
  record: 'sandbox.json',
  live: 'live.json',
  status: 'status.json',
  /** What the supervisor is to do; no value of env or secret is in it. */
  orders: 'orders.json',
  /** Named pipe that the supervisor holds open: its end of file is the supervisor's end. */
  alive: 'alive',
  /** Present once the daemon has decided to kill it. */
  killed: 'killed',
  log: 'log',
  olderLog: 'log.1',
  filter: 'seccomp.bpf',
  arguments: 'bwrap.args',
  resolvConf: 'resolv.conf',
  box: 'box',
  mounts: 'mounts',
} as const

export async function writeRecord(directory: string, file: string, record: unknown): Promise<void> {
  const temporary = join(directory, `${file}.${randomBytes(4).toString('hex')}`)
  await writeFile(temporary, JSON.stringify(record), { mode: 0o600 })
  await rename(temporary, join(directory, file))
}

/** Undefined for a record that is not there. All of them are written by rename, so what is there is whole. */
export async function readRecord<T extends SandboxRecord | LiveRecord | StatusRecord>(
  directory: string,
  file: string,
): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, file), 'utf8')) as T
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined
    throw error
  }
}
