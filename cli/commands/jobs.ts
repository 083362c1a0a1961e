import type { JobView } from '../../daemon/api/schemas/jobs.ts'
import { defineCommand } from '../command.ts'
import { formatAge } from '../terminal/formatAge.ts'
import { toPairs, toTable } from '../terminal/table.ts'

export const jobs = defineCommand({
  name: 'jobs',
  summary: 'long operations, newest first; with an id, one of them',
  usage: ['jobs [<id>] [--cancel]'],
  arity: [0, 1],
  options: { cancel: { type: 'boolean', description: 'cancel the job named' } },
  async run({ args: [id], options, client, signal }) {
    if (id !== undefined) {
      const path = `/v1/jobs/${encodeURIComponent(id)}`
      const job = options.cancel
        ? await client.post<JobView>(`${path}/cancel`, undefined, { signal })
        : await client.get<JobView>(path, { signal })
      return { json: job, text: describe(job) }
    }
    const all = await client.get<JobView[]>('/v1/jobs', { signal })
    const now = Date.now()
    const rows = all.map((job) => [
      job.id,
      job.kind,
      job.subject,
      job.state,
      job.error?.code ?? job.stage ?? '-',
      formatAge(job.createdAt, now),
    ])
    return { json: all, text: toTable(['ID', 'KIND', 'SUBJECT', 'STATE', 'STAGE', 'AGE'], rows, 'No jobs yet.') }
  },
})

const describe = (job: JobView) =>
  toPairs([
    ['id', job.id],
    ['kind', job.kind],
    ['subject', job.subject],
    ['state', job.state],
    ['stage', job.stage ?? undefined],
    ['progress', job.progress === null ? undefined : `${Math.round(job.progress * 100)} %`],
    ['message', job.message ?? undefined],
    ['error', job.error ? `${job.error.code}: ${job.error.message}` : undefined],
    ['hint', job.error?.hint],
    ['created', job.createdAt],
    ['updated', job.updatedAt],
  ])
