import { answerJob } from '../answerJob.ts'
import type { Api, ApiDeps } from '../api.ts'
import { NoBody } from '../schemas/common.ts'
import { Doctor } from '../schemas/info.ts'
import { JobAccepted, type JobResults, JobView } from '../schemas/jobs.ts'
import { WaitQuery } from '../schemas/packages.ts'
import { toClientSignal } from '../streamEvents.ts'

const tags = ['doctor']
const response = { 200: JobView, 202: JobAccepted }

export function registerDoctor(app: Api, { diagnose, repair, lifecycle, store, jobs, closing }: ApiDeps): void {
  app.get(
    '/v1/doctor',
    { schema: { operationId: 'diagnose', summary: 'What works here and what does not', tags, response: { 200: Doctor } } },
    () => diagnose(),
  )

  const verify = {
    kind: 'verify',
    subject: 'store',
    key: 'verify',
    run: async ({ progress, signal }): Promise<JobResults['verify']> => {
      const packages: JobResults['verify']['packages'] = []
      const installed = lifecycle.list()
      for (const [index, { record }] of installed.entries()) {
        signal.throwIfAborted()
        progress({ stage: 'verify', message: record.id, fraction: index / installed.length })
        const differences = await store.verify(record.tree, 'full')
        packages.push({ id: record.id, version: record.version, tree: record.tree, differences: differences.map((each) => ({ ...each })) })
      }
      return { packages }
    },
  } satisfies Parameters<typeof jobs.submit>[0]

  app.post(
    '/v1/doctor/verify',
    {
      schema: {
        operationId: 'verifyPackages',
        summary: 'Hash every installed file and compare it with its record',
        tags,
        querystring: WaitQuery,
        body: NoBody,
        response,
      },
    },
    ({ query }, reply) => answerJob({ jobs, job: jobs.submit(verify), wait: query.wait, reply, signal: toClientSignal(reply, closing) }),
  )

  app.post(
    '/v1/doctor/repair',
    {
      schema: {
        operationId: 'repair',
        summary: 'Sweep what a database that was set aside no longer knows',
        tags,
        querystring: WaitQuery,
        body: NoBody,
        response,
      },
    },
    ({ query }, reply) => {
      const job = jobs.submit({
        kind: 'repair',
        subject: 'state',
        key: 'repair',
        run: async (context): Promise<JobResults['repair']> => ({ repaired: [...(await repair(context))] }),
      })
      return answerJob({ jobs, job, wait: query.wait, reply, signal: toClientSignal(reply, closing) })
    },
  )
}
