import type { PackageView, StatsView } from '../../daemon/api/schemas/packages.ts'
import { formatBytes } from '../../daemon/core/formatBytes.ts'
import { defineCommand } from '../command.ts'
import { toTable } from '../terminal/table.ts'

export const stats = defineCommand({
  name: 'stats',
  summary: 'what running packages use',
  usage: ['stats [<id>]'],
  arity: [0, 1],
  completes: 'package',
  options: {},
  async run({ args: [only], client, signal }) {
    const ids =
      only === undefined
        ? (await client.list<PackageView>('/v1/packages?state=running&limit=1000', { signal })).map(({ id }) => id)
        : [only]
    const all = await Promise.all(ids.map((id) => client.get<StatsView>(`/v1/packages/${encodeURIComponent(id)}/stats`, { signal })))
    const rows = all.map((entry) => [
      entry.id,
      `${formatBytes(entry.memoryBytes)} / ${formatBytes(entry.memoryLimitBytes)}`,
      `${entry.cpuSeconds.toFixed(1)} s`,
      String(entry.pids),
      formatBytes(entry.networkRxBytes),
      formatBytes(entry.networkTxBytes),
    ])
    return {
      json: only === undefined ? all : all[0],
      text: toTable(['ID', 'MEMORY', 'CPU TIME', 'PIDS', 'RECEIVED', 'SENT'], rows, 'Nothing is running.'),
    }
  },
})
