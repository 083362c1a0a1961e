import type { JobAccepted, JobResults } from '../../daemon/api/schemas/jobs.ts'
import { defineCommand } from '../command.ts'
import { followJob, toAnswer } from '../followJob.ts'

export const uninstall = defineCommand({
  name: 'uninstall',
  summary: 'stop a package and remove it; its /data is kept unless --purge',
  usage: ['uninstall <id> [--purge]'],
  arity: [1, 1],
  completes: 'package',
  options: { purge: { type: 'boolean', description: "remove the package's /data too" } },
  async run({ args: [id = ''], options, client, terminal, signal }) {
    const query = options.purge ? '?purge=true' : ''
    const accepted = await client.delete<JobAccepted>(`/v1/packages/${encodeURIComponent(id)}${query}`, { signal })
    return toAnswer(await followJob(client, terminal, accepted, signal), ({ result }) => ({
      text: describe(id, options.purge === true, (result as JobResults['uninstall']).keptData),
    }))
  },
})

function describe(id: string, purged: boolean, keptData: string | null): string {
  if (keptData !== null) return `${id} is uninstalled; its data is kept in ${keptData} (pkg uninstall ${id} --purge removes it)`
  return purged ? `${id} is uninstalled, its data included` : `${id} is uninstalled`
}
