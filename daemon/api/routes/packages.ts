import { answerJob } from '../answerJob.ts'
import type { Api, ApiDeps } from '../api.ts'
import { createPackageJobs } from '../packageJobs.ts'
import { nextLink, paginate } from '../paginate.ts'
import { NoBody, PackageParams } from '../schemas/common.ts'
import { JobAccepted, JobView } from '../schemas/jobs.ts'
import { InstallBody, PackagesQuery, PackageView, UninstallQuery, WaitQuery } from '../schemas/packages.ts'
import { Type } from '../schemas/type.ts'
import { toClientSignal } from '../streamEvents.ts'
import { toPackageView } from '../toPackageView.ts'

const tags = ['packages']
const response = { 200: JobView, 202: JobAccepted }

export function registerPackages(app: Api, deps: ApiDeps): void {
  const { lifecycle, jobs, closing } = deps
  const work = createPackageJobs(deps)

  app.get(
    '/v1/packages',
    {
      schema: {
        operationId: 'listPackages',
        summary: 'What is installed',
        tags,
        querystring: PackagesQuery,
        response: { 200: Type.Array(PackageView) },
      },
    },
    ({ query, url }, reply) => {
      const found = lifecycle.list().filter(({ status }) => query.state === undefined || status.state === query.state)
      const { items, next } = paginate(found, ({ record }) => record.id, query)
      if (next !== null) reply.header('link', nextLink(url, next))
      return items.map(toPackageView)
    },
  )

  app.post(
    '/v1/packages',
    { schema: { operationId: 'installPackage', summary: 'Install a package', tags, querystring: WaitQuery, body: InstallBody, response } },
    ({ body, query }, reply) =>
      answerJob({ jobs, job: jobs.submit(work.install(body)), wait: query.wait, reply, signal: toClientSignal(reply, closing) }),
  )

  app.get(
    '/v1/packages/:id',
    { schema: { operationId: 'getPackage', summary: 'One package', tags, params: PackageParams, response: { 200: PackageView } } },
    ({ params }) => toPackageView(lifecycle.get(params.id)),
  )

  app.delete(
    '/v1/packages/:id',
    {
      schema: {
        operationId: 'uninstallPackage',
        summary: 'Uninstall it; its /data stays unless purged',
        tags,
        params: PackageParams,
        querystring: UninstallQuery,
        response,
      },
    },
    async ({ params, query }, reply) => {
      const job = jobs.submit(await work.uninstall(params.id, query.purge ?? false))
      return answerJob({ jobs, job, wait: query.wait, reply, signal: toClientSignal(reply, closing) })
    },
  )

  const verbs = {
    start: 'Start it after what it needs',
    stop: 'Stop it after what needs it; it stays stopped',
    restart: 'Stop it and start it',
  } as const
  for (const verb of ['start', 'stop', 'restart'] as const) {
    app.post(
      `/v1/packages/:id/${verb}`,
      {
        schema: {
          operationId: `${verb}Package`,
          summary: verbs[verb],
          tags,
          params: PackageParams,
          querystring: WaitQuery,
          body: NoBody,
          response,
        },
      },
      ({ params, query }, reply) =>
        answerJob({ jobs, job: jobs.submit(work[verb](params.id)), wait: query.wait, reply, signal: toClientSignal(reply, closing) }),
    )
  }
}
