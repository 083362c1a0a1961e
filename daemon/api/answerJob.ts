import type { FastifyReply } from 'fastify'
import { fromErrorRecord } from '../core/errorRecord.ts'
import { type Issue, PkgdError } from '../core/errors.ts'
import type { JobRunner } from '../jobs/jobRunner.ts'
import type { JobRecord } from '../store/state.ts'
import type { JobAccepted, JobView } from './schemas/jobs.ts'

/** The job as it is kept: its form is REST's. */
export const toJobView = (job: JobRecord): JobView => ({
  ...job,
  error: job.error && { ...job.error, issues: [...((job.error.issues as readonly Issue[] | undefined) ?? [])] },
})

/** What a job failed with, as the error that the same work would have thrown. */
function toJobFailure({ id, kind, subject, state, error }: JobRecord): PkgdError {
  if (!error) return new PkgdError('INTERNAL', `The job ${id} (${kind} of ${subject}) is ${state} without an error`)
  return fromErrorRecord({ ...error, issues: (error.issues as readonly Issue[] | undefined) ?? [] })
}

interface JobAnswer {
  readonly jobs: JobRunner
  readonly job: JobRecord
  /** Whether to answer when it is done: the finished job, or the problem that it failed with. */
  readonly wait: boolean | undefined
  readonly reply: FastifyReply
  readonly signal: AbortSignal
}

/** 202 with where to follow the job, or, when asked to wait, its end. A client that goes away leaves the job running. */
export async function answerJob({ jobs, job, wait, reply, signal }: JobAnswer): Promise<JobAccepted | JobView> {
  reply.header('location', `/v1/jobs/${job.id}`)
  if (!wait) {
    reply.status(202)
    return { job: toJobView(job) }
  }
  const done = await jobs.wait(job.id, signal)
  if (done.state !== 'succeeded') throw toJobFailure(done)
  return toJobView(done)
}
