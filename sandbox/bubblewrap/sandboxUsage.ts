import { readFile } from 'node:fs/promises'
import { hasCode } from '../../daemon/core/errors.ts'
import type { SandboxStats } from '../sandboxDriver.ts'
import type { Cgroup } from './cgroup.ts'

/** Bytes in and out of every interface but the loopback, of /proc/<pid>/net/dev. */
export function parseNetworkBytes(text: string): { received: number; sent: number } {
  const lines = text
    .split('\n')
    .map((line) => /^\s*(\S+):\s*(.*)$/.exec(line))
    .filter((found) => found !== null && found[1] !== 'lo')
  const fields = lines.map((found) => (found?.[2] ?? '').trim().split(/\s+/).map(Number))
  const sum = (column: number) => fields.reduce((total, line) => total + (line[column] ?? 0), 0)
  return { received: sum(0), sent: sum(8) }
}

/** What a sandbox uses; 0 where nothing counts it. */
export async function readUsage(cgroup: Cgroup, pid: number | null, memoryLimitBytes: number): Promise<SandboxStats> {
  const [memory, cache, cpuSeconds, pids, network] = await Promise.all([
    cgroup.gauge('memory'),
    cgroup.gauge('cache'),
    cgroup.gauge('cpuSeconds'),
    cgroup.gauge('pids'),
    readNetwork(pid),
  ])
  return {
    memoryBytes: Math.max(0, (memory ?? 0) - (cache ?? 0)),
    memoryLimitBytes,
    cpuSeconds: cpuSeconds ?? 0,
    pids: pids ?? 0,
    networkRxBytes: network.received,
    networkTxBytes: network.sent,
  }
}

async function readNetwork(pid: number | null): Promise<{ received: number; sent: number }> {
  if (pid === null) return { received: 0, sent: 0 }
  try {
    return parseNetworkBytes(await readFile(`/proc/${pid}/net/dev`, 'utf8'))
  } catch (error) {
    // It has just ended.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EINVAL') || hasCode(error, 'ESRCH')) return { received: 0, sent: 0 }
    throw error
  }
}
