import { readFile, statfs } from 'node:fs/promises'

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

/** Of an engine whose kernel is not this one. */
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

/** Where a process is in each hierarchy: controller to path; version 2 is under the empty name. */
export function parseCgroups(text: string): Map<string, string> {
  const paths = new Map<string, string>()
  for (const line of text.split('\n')) {
    const found = /^\d+:([^:]*):(\/.*)$/.exec(line)
    if (found?.[1] === undefined || found[2] === undefined) continue
    for (const controller of found[1].split(',')) paths.set(controller, found[2])
  }
  return paths
}

/** Where each hierarchy is mounted: controller to mount point; version 2 is under the empty name. */
export function parseCgroupMounts(mountinfo: string): Map<string, string> {
  const points = new Map<string, string>()
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ')
    const [type, , options = ''] = after?.split(' ') ?? []
    const point = before?.split(' ')[4]
    if (point === undefined) continue
    if (type === 'cgroup2') points.set('', point)
    if (type === 'cgroup') for (const option of options.split(',')) points.set(option, point)
  }
  return points
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
  const [groups, mountinfo, status, mounts, tmp] = await Promise.all([
    read(`/proc/${pid}/cgroup`),
    read('/proc/self/mountinfo'),
    read(`/proc/${pid}/status`),
    read(`/proc/${pid}/mountinfo`),
    statfs(`/proc/${pid}/root/tmp`).catch(() => null),
  ])
  const paths = parseCgroups(groups ?? '')
  const points = parseCgroupMounts(mountinfo ?? '')
  const file = (controller: string, name: string): Promise<string | null> => {
    const point = points.get(controller)
    const path = paths.get(controller)
    return point === undefined || path === undefined ? Promise.resolve(null) : read(`${point}${path}/${name}`)
  }
  const [memory, cpus, pids] = await Promise.all([readMemory(file, points), readCpus(file, points), readPids(file, points)])
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
  return /^SwapTotal:\s+[1-9]/m.test((await read('/proc/meminfo')) ?? '')
}

type CgroupFile = (controller: string, name: string) => Promise<string | null>

async function readMemory(file: CgroupFile, points: ReadonlyMap<string, string>) {
  if (points.has('memory')) {
    const [limit, both] = await Promise.all([file('memory', 'memory.limit_in_bytes'), file('memory', 'memory.memsw.limit_in_bytes')])
    return { memoryBytes: parseLimit(limit), memoryAndSwapBytes: parseLimit(both) }
  }
  const [limit, swap] = (await Promise.all([file('', 'memory.max'), file('', 'memory.swap.max')])).map(parseLimit)
  const known = typeof limit === 'number' && typeof swap === 'number'
  return { memoryBytes: limit ?? null, memoryAndSwapBytes: known ? limit + swap : null }
}

async function readCpus(file: CgroupFile, points: ReadonlyMap<string, string>): Promise<number | null> {
  if (points.has('cpu')) {
    const [quota, period] = (await Promise.all([file('cpu', 'cpu.cfs_quota_us'), file('cpu', 'cpu.cfs_period_us')])).map(parseLimit)
    return typeof quota === 'number' && typeof period === 'number' ? quota / period : null
  }
  const text = await file('', 'cpu.max')
  const [quota, period] = (text ?? '').trim().split(' ')
  if (quota === undefined || period === undefined) return null
  return (parseLimit(quota) ?? Number.NaN) / Number(period)
}

async function readPids(file: CgroupFile, points: ReadonlyMap<string, string>): Promise<number | null> {
  return parseLimit(await file(points.has('pids') ? 'pids' : '', 'pids.max'))
}

/** Null for a file that is not there or not ours to read: the value is then out of reach, and that is what is reported. */
const read = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null)
