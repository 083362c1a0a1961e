import type { Doctor } from '../../daemon/api/schemas/info.ts'
import type { JobAccepted, JobResults } from '../../daemon/api/schemas/jobs.ts'
import { defineCommand } from '../command.ts'
import { followJob, toAnswer } from '../followJob.ts'

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
    if (options.verify || options.repair) {
      const accepted = await client.post<JobAccepted>(`/v1/doctor/${options.verify ? 'verify' : 'repair'}`, undefined, { signal })
      return toAnswer(await followJob(client, terminal, accepted, signal), ({ result }) =>
        options.verify ? describeVerified(result as JobResults['verify']) : describeRepaired(result as JobResults['repair']),
      )
    }
    const report = await client.get<Doctor>('/v1/doctor', { signal })
    const lines = report.checks.flatMap(({ status, title, detail, hint }) => [
      `${status.padEnd(8)} ${title}: ${detail}`,
      ...(hint ? [`         hint: ${hint}`] : []),
    ])
    return { json: report, text: lines.join('\n'), exit: report.status === 'error' ? 1 : 0 }
  },
})

function describeVerified({ packages }: JobResults['verify']): { text: string; exit: number } {
  const lines = packages.flatMap(({ id, version, differences }) =>
    differences.length === 0
      ? [`ok       ${id} ${version}`]
      : [`CHANGED  ${id} ${version}`, ...differences.map(({ path, problem }) => `           ${problem}: ${path}`)],
  )
  const changed = packages.some(({ differences }) => differences.length > 0)
  return { text: lines.join('\n') || 'Nothing is installed.', exit: changed ? 1 : 0 }
}

const describeRepaired = ({ repaired }: JobResults['repair']) => ({ text: repaired.join('\n') || 'Nothing to repair.' })
