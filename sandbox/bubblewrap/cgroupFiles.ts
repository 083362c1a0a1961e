import type { Limits } from '../../daemon/core/types.ts'
import type { LimitName } from '../sandboxDriver.ts'

/** One file of a cgroup and what is written to it, in order. An `ifPresent` file may be missing: the kernel was built or started without it. */
export interface CgroupWrite {
  readonly file: string
  readonly value: string
  readonly ifPresent?: true
}

const periodMicroseconds = 100_000

/** The limits as the files of a hierarchy's version take them. Memory and swap together are held to one number. */
export function toLimitWrites(limit: Exclude<LimitName, 'tmp'>, version: 1 | 2, limits: Limits): CgroupWrite[] {
  const quota = String(Math.round(limits.cpus * periodMicroseconds))
  switch (limit) {
    case 'memory':
      return version === 1
        ? [
            { file: 'memory.limit_in_bytes', value: String(limits.memoryBytes) },
            { file: 'memory.memsw.limit_in_bytes', value: String(limits.memoryBytes), ifPresent: true },
          ]
        : [
            { file: 'memory.max', value: String(limits.memoryBytes) },
            { file: 'memory.swap.max', value: '0', ifPresent: true },
          ]
    case 'cpu':
      return version === 1
        ? [
            { file: 'cpu.cfs_period_us', value: String(periodMicroseconds) },
            { file: 'cpu.cfs_quota_us', value: quota },
          ]
        : [{ file: 'cpu.max', value: `${quota} ${periodMicroseconds}` }]
    case 'pids':
      return [{ file: 'pids.max', value: String(limits.pids) }]
  }
}

/** What a cgroup's file says, by its key; the file is `key value` lines. */
export function parseFlatKeyed(text: string): ReadonlyMap<string, number> {
  const pairs = text.split('\n').map((line) => line.trim().split(/\s+/))
  return new Map(pairs.filter((pair) => pair.length === 2).map(([key = '', value]) => [key, Number(value)]))
}

/** Where the kernel counts the processes that it killed for the memory limit: a `key value` file. */
export const oomCounters = {
  1: { file: 'memory.oom_control', key: 'oom_kill' },
  2: { file: 'memory.events', key: 'oom_kill' },
} as const
