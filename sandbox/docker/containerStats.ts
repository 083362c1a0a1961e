import type { SandboxStats } from '../sandboxDriver.ts'

/** Those of the engine's figures that are used. */
export interface UsageFigures {
  readonly memory_stats: { readonly usage?: number; readonly limit?: number; readonly stats?: object }
  readonly cpu_stats: { readonly cpu_usage: { readonly total_usage: number } }
  readonly pids_stats?: { readonly current?: number | undefined }
  readonly networks?: Readonly<Record<string, { readonly rx_bytes: number; readonly tx_bytes: number }>>
}

/** The engine's figures as the port's: memory without the page cache that the kernel would give back, as the engine's own client counts it. */
export function toSandboxStats({ memory_stats: memory, cpu_stats: cpu, pids_stats: pids, networks = {} }: UsageFigures): SandboxStats {
  const detail: Readonly<Record<string, number | undefined>> = { ...memory.stats }
  const reclaimable = detail.total_inactive_file ?? detail.inactive_file ?? 0
  const counters = Object.values(networks)
  return {
    memoryBytes: Math.max(0, (memory.usage ?? 0) - reclaimable),
    memoryLimitBytes: memory.limit ?? 0,
    cpuSeconds: cpu.cpu_usage.total_usage / 1e9,
    pids: pids?.current ?? 0,
    networkRxBytes: counters.reduce((sum, { rx_bytes }) => sum + rx_bytes, 0),
    networkTxBytes: counters.reduce((sum, { tx_bytes }) => sum + tx_bytes, 0),
  }
}
