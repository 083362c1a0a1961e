import type { Doctor } from '../../daemon/api/schemas/info.ts'
import type { JobAccepted, JobResults } from '../../daemon/api/schemas/jobs.ts'
import { defineCommand } from '../command.ts'
import { followJob } from '../followJob.ts'

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'what works here, what does not, and what to do about it',
  usage: ['doctor [--verify | --repair]'],
  arity: [0, 0],
  options: {
    verify: { type: 'boolean', description: 'hash every installed file and compare it with what was recorded' },
    repair: { type: 'boolean', description: 'sweep what a set-aside database no longer knows' },
  },
  async run({ options, client, terminal, signal }) {
    if (options.verify) {
      const job = await followJob(client, terminal, await client.post<JobAccepted>('/v1/doctor/verify', undefined, { signal }), signal)
      const { packages } = job.result as JobResults['verify']
      const lines = packages.flatMap(({ id, version, differences }) =>
        differences.length === 0
          ? [`ok       ${id} ${version}`]
          : [`CHANGED  ${id} ${version}`, ...differences.map(({ path, problem }) => `           ${problem}: ${path}`)],
      )
      const changed = packages.some(({ differences }) => differences.length > 0)
      return { json: job, text: lines.join('\n') || 'Nothing is installed.', exit: changed ? 1 : 0 }
    }
    if (options.repair) {
      const job = await followJob(client, terminal, await client.post<JobAccepted>('/v1/doctor/repair', undefined, { signal }), signal)
      const { repaired } = job.result as JobResults['repair']
      return { json: job, text: repaired.join('\n') || 'Nothing to repair.' }
    }
    const report = await client.get<Doctor>('/v1/doctor', { signal })
    const lines = report.checks.flatMap(({ status, title, detail, hint }) => [
      `${status.padEnd(8)} ${title}: ${detail}`,
      ...(hint ? [`         hint: ${hint}`] : []),
    ])
    return { json: report, text: lines.join('\n'), exit: report.status === 'error' ? 1 : 0 }
  },
})
