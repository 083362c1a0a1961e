import type { SandboxStats } from '../sandboxDriver.ts'
import type { ContainerUsage } from './engineApi.ts'

/** The engine's figures as the port's: memory without the page cache that the kernel would give back, as the engine's own client counts it. */
export function toSandboxStats(usage: ContainerUsage): SandboxStats {
  const memory = usage.memory_stats
  const detail: Readonly<Record<string, number | undefined>> = { ...memory.stats }
  const reclaimable = detail.total_inactive_file ?? detail.inactive_file ?? 0
  const networks = Object.values(usage.networks ?? {})
  return {
    memoryBytes: Math.max(0, (memory.usage ?? 0) - reclaimable),
    memoryLimitBytes: memory.limit ?? 0,
    cpuSeconds: usage.cpu_stats.cpu_usage.total_usage / 1e9,
    pids: usage.pids_stats?.current ?? 0,
    networkRxBytes: networks.reduce((sum, { rx_bytes }) => sum + rx_bytes, 0),
    networkTxBytes: networks.reduce((sum, { tx_bytes }) => sum + tx_bytes, 0),
  }
}
