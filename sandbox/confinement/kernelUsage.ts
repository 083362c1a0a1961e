import type { SandboxStats } from '../sandboxDriver.ts'
import { type CgroupReader, openCgroups, readIfThere } from './cgroups.ts'
import { parseLimit } from './kernelReading.ts'

/** What the cgroup of a process uses, from the kernel's own files: at once, where the engine waits for its next sample. Null where they are out of reach. */
export async function readKernelUsage(pid: number): Promise<SandboxStats | null> {
  const [cgroups, network] = await Promise.all([openCgroups(pid), readIfThere(`/proc/${pid}/net/dev`)])
  const [memory, cpuSeconds, pids] = await Promise.all([readMemory(cgroups), readCpuSeconds(cgroups), readPids(cgroups)])
  if (memory === null || cpuSeconds === null || pids === null || !(await cgroups.isUnmoved())) return null
  return { ...memory, cpuSeconds, pids, ...parseNetworkBytes(network ?? '') }
}

/** Without the page cache that the kernel would give back, as the engine's own client counts it. */
async function readMemory(cgroups: CgroupReader) {
  const first = cgroups.hasHierarchy('memory')
  const names = first ? ['memory.usage_in_bytes', 'memory.limit_in_bytes', 'memory.stat'] : ['memory.current', 'memory.max', 'memory.stat']
  const [usage, limit, detail] = await Promise.all(names.map((name) => cgroups.read(first ? 'memory' : '', name)))
  if (!usage || !limit) return null
  const reclaimable = new RegExp(`^${first ? 'total_inactive_file' : 'inactive_file'} (\\d+)$`, 'm').exec(detail ?? '')?.[1]
  const bound = parseLimit(limit) ?? 0
  return {
    memoryBytes: Math.max(0, Number(usage) - Number(reclaimable ?? 0)),
    memoryLimitBytes: Number.isFinite(bound) ? bound : 0,
  }
}

async function readCpuSeconds(cgroups: CgroupReader): Promise<number | null> {
  if (cgroups.hasHierarchy('cpuacct')) {
    const nanoseconds = await cgroups.read('cpuacct', 'cpuacct.usage')
    return nanoseconds === null ? null : Number(nanoseconds) / 1e9
  }
  const microseconds = /^usage_usec (\d+)$/m.exec((await cgroups.read('', 'cpu.stat')) ?? '')?.[1]
  return microseconds === undefined ? null : Number(microseconds) / 1e6
}

async function readPids(cgroups: CgroupReader): Promise<number | null> {
  const count = await cgroups.read(cgroups.hasHierarchy('pids') ? 'pids' : '', 'pids.current')
  return count === null ? null : Number(count)
}

/** The sums of /proc/net/dev over every interface but loopback. */
export function parseNetworkBytes(text: string): { networkRxBytes: number; networkTxBytes: number } {
  const rows = text
    .split('\n')
    .map((line) => /^\s*([^:\s]+):\s*(.*)$/.exec(line))
    .filter((row) => row !== null && row[1] !== 'lo')
    .map((row) => (row?.[2] ?? '').split(/\s+/).map(Number))
  return {
    networkRxBytes: rows.reduce((sum, row) => sum + (row[0] ?? 0), 0),
    networkTxBytes: rows.reduce((sum, row) => sum + (row[8] ?? 0), 0),
  }
}
