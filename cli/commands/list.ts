import type { PackageView } from '../../daemon/api/schemas/packages.ts'
import { defineCommand } from '../command.ts'
import { formatState } from '../formatState.ts'
import { formatAge } from '../terminal/formatAge.ts'
import { toTable } from '../terminal/table.ts'

export const list = defineCommand({
  name: 'list',
  summary: 'what is installed and how it is',
  usage: ['list'],
  arity: [0, 0],
  options: {},
  async run({ client, signal }) {
    const packages = await client.list<PackageView>('/v1/packages?limit=1000', { signal })
    const now = Date.now()
    const rows = packages.map((entry) => [
      entry.id,
      entry.version,
      entry.type,
      formatState(entry),
      entry.state === 'running' ? entry.health : '-',
      formatAge(entry.since, now),
    ])
    return { json: packages, text: toTable(['ID', 'VERSION', 'TYPE', 'STATE', 'HEALTH', 'SINCE'], rows, 'Nothing is installed.') }
  },
})
