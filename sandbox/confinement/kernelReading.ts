import { statfs } from 'node:fs/promises'
import { type CgroupReader, openCgroups, readIfThere } from './cgroups.ts'

/** What the kernel holds for a process and its cgroup. Null is out of reach; Infinity is no limit. */
export interface KernelReading {
  readonly memoryBytes: number | null
  /** Memory and swap together. */
  readonly memoryAndSwapBytes: number | null
  readonly cpus: number | null
  readonly pids: number | null
  readonly tmpBytes: number | null
  readonly readOnlyRoot: boolean | null
  readonly capabilities: readonly string[] | null
  readonly noNewPrivileges: boolean | null
  readonly seccomp: boolean | null
  /** `uid:gid` */
  readonly user: string | null
}

/** Of a process that has ended, or of an engine whose kernel is not this one. */
export const unreadKernel: KernelReading = {
  memoryBytes: null,
  memoryAndSwapBytes: null,
  cpus: null,
  pids: null,
  tmpBytes: null,
  readOnlyRoot: null,
  capabilities: null,
  noNewPrivileges: null,
  seccomp: null,
  user: null,
}

/** A cgroup's number: version 1 says no limit by -1 or by a number near 2^63, version 2 by `max`. */
export function parseLimit(text: string | null): number | null {
  if (text === null) return null
  const word = text.trim()
  if (word === 'max' || word === '-1') return Number.POSITIVE_INFINITY
  const value = Number(word)
  return value >= 2 ** 62 ? Number.POSITIVE_INFINITY : value
}

const capabilityNames =
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE'.split(
    ' ',
  )

/** The names of a mask as /proc/<pid>/status has it (`00000000a80425fb`). */
export function parseCapabilities(mask: string): string[] {
  const bits = BigInt(`0x${mask}`)
  return capabilityNames.filter((_, bit) => (bits >> BigInt(bit)) & 1n)
}

/** Reads the limits of the process's own cgroup, and what holds the process itself, from the files of this host's kernel. */
export async function readKernel(pid: number): Promise<KernelReading> {
  const [cgroups, status, mounts, tmp] = await Promise.all([
    openCgroups(pid),
    readIfThere(`/proc/${pid}/status`),
    readIfThere(`/proc/${pid}/mountinfo`),
    statfs(`/proc/${pid}/root/tmp`).catch(() => null),
  ])
  const [memory, cpus, pids] = await Promise.all([readMemory(cgroups), readCpus(cgroups), readPids(cgroups)])
  if (!(await cgroups.isUnmoved())) return unreadKernel
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status ?? '')?.[1] ?? null
  const capabilities = field('CapEff')
  const root = (mounts ?? '').split('\n').find((line) => line.split(' ')[4] === '/')
  return {
    ...memory,
    cpus,
    pids,
    tmpBytes: tmp === null ? null : tmp.blocks * tmp.bsize,
    readOnlyRoot: root === undefined ? null : (root.split(' ')[5] ?? '').split(',').includes('ro'),
    capabilities: capabilities === null ? null : parseCapabilities(capabilities),
    noNewPrivileges: field('NoNewPrivs') === null ? null : field('NoNewPrivs') === '1',
    seccomp: field('Seccomp') === null ? null : field('Seccomp') === '2',
    user: field('Uid') === null ? null : `${field('Uid')}:${field('Gid')}`,
  }
}

/** Whether this host has swap. */
export async function hasSwap(): Promise<boolean> {
  return /^SwapTotal:\s+[1-9]/m.test((await readIfThere('/proc/meminfo')) ?? '')
}

async function readMemory(cgroups: CgroupReader) {
  if (cgroups.hasHierarchy('memory')) {
    const names = ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes']
    const [limit, both] = await Promise.all(names.map((name) => cgroups.read('memory', name)))
    return { memoryBytes: parseLimit(limit ?? null), memoryAndSwapBytes: parseLimit(both ?? null) }
  }
  const [limit, swap] = (await Promise.all(['memory.max', 'memory.swap.max'].map((name) => cgroups.read('', name)))).map(parseLimit)
  const known = typeof limit === 'number' && typeof swap === 'number'
  return { memoryBytes: limit ?? null, memoryAndSwapBytes: known ? limit + swap : null }
}

async function readCpus(cgroups: CgroupReader): Promise<number | null> {
  if (cgroups.hasHierarchy('cpu')) {
    const names = ['cpu.cfs_quota_us', 'cpu.cfs_period_us']
    const [quota, period] = (await Promise.all(names.map((name) => cgroups.read('cpu', name)))).map(parseLimit)
    return typeof quota === 'number' && typeof period === 'number' ? quota / period : null
  }
  const [quota, period] = ((await cgroups.read('', 'cpu.max')) ?? '').trim().split(' ')
  if (quota === undefined || period === undefined) return null
  return (parseLimit(quota) ?? Number.NaN) / Number(period)
}

async function readPids(cgroups: CgroupReader): Promise<number | null> {
  return parseLimit(await cgroups.read(cgroups.hasHierarchy('pids') ? 'pids' : '', 'pids.max'))
}
