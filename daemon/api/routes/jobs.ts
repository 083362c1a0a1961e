import { PkgdError } from '../../core/errors.ts'
import type { JobRecord } from '../../store/state.ts'
import { toJobView } from '../answerJob.ts'
import type { Api, ApiDeps } from '../api.ts'
import { decodeCursor, nextLink } from '../paginate.ts'
import { NoBody, PageQuery } from '../schemas/common.ts'
import { JobParams, JobView } from '../schemas/jobs.ts'
import { Type } from '../schemas/type.ts'
import { streamEvents } from '../streamEvents.ts'

const tags = ['jobs']

export function registerJobs(app: Api, { jobs, closing, clock, log }: ApiDeps): void {
  const found = (id: string, job: JobRecord | undefined): JobRecord => {
    if (!job) throw new PkgdError('JOB_NOT_FOUND', `There is no job ${id}`, { hint: 'pkg jobs lists them' })
    return job
  }

  app.get(
    '/v1/jobs',
    {
      schema: {
        operationId: 'listJobs',
        summary: 'Jobs, newest first',
        tags,
        querystring: PageQuery,
        response: { 200: Type.Array(JobView) },
      },
    },
    ({ query: { limit = 100, cursor }, url }, reply) => {
      const page = jobs.list({ limit: limit + 1, ...(cursor === undefined ? {} : { cursor: decodeCursor(cursor) }) })
      const last = page.length > limit ? page[limit - 1] : undefined
      if (last) reply.header('link', nextLink(url, last.id))
      return page.slice(0, limit).map(toJobView)
    },
  )

  app.get(
    '/v1/jobs/:id',
    { schema: { operationId: 'getJob', summary: 'One job', tags, params: JobParams, response: { 200: JobView } } },
    ({ params: { id } }) => toJobView(found(id, jobs.get(id))),
  )

  app.get(
    '/v1/jobs/:id/events',
    {
      config: { streams: true },
      schema: {
        operationId: 'followJob',
        summary: 'The job now and at each change, until its end, as server-sent events',
        tags,
        params: JobParams,
      },
    },
    async ({ params: { id } }, reply) => {
      found(id, jobs.get(id))
      async function* views(signal: AbortSignal) {
        for await (const job of jobs.follow(id, signal)) yield toJobView(job)
      }
      await streamEvents({ reply, open: views, closing, clock, log })
      return reply
    },
  )

  app.post(
    '/v1/jobs/:id/cancel',
    {
      schema: {
        operationId: 'cancelJob',
        summary: 'Cancel it; what it had changed is undone',
        tags,
        params: JobParams,
        body: NoBody,
        response: { 200: JobView },
      },
    },
    ({ params: { id } }) => toJobView(found(id, jobs.cancel(id))),
  )
}
