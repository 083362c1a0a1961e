import type { JobAccepted, JobView } from '../daemon/api/schemas/jobs.ts'
import { fromErrorRecord } from '../daemon/core/errorRecord.ts'
import { PkgdError } from '../daemon/core/errors.ts'
import type { Client } from './client.ts'
import type { Answer, Terminal } from './command.ts'

/** A job that has ended, and why it failed if it did. */
export interface JobOutcome {
  readonly job: JobView
  readonly error: PkgdError | null
}

/** Follows a job to its end, its stages shown as they come. When the signal aborts (Ctrl-C) the job is cancelled, not left behind. */
export async function followJob(client: Client, terminal: Terminal, { job }: JobAccepted, signal: AbortSignal): Promise<JobOutcome> {
  let last = job
  try {
    for await (const next of client.stream<JobView>(`/v1/jobs/${job.id}/events`, { signal })) {
      last = next
      terminal.progress(describe(next))
    }
  } finally {
    terminal.progress(null)
  }
  if (signal.aborted) {
    await client.post(`/v1/jobs/${job.id}/cancel`)
    throw new PkgdError('OPERATION_CANCELLED', `${job.kind} of ${job.subject} was cancelled`)
  }
  return { job: last, error: last.state === 'succeeded' ? null : toJobError(last) }
}

/** A finished job as a command's answer: itself, what it came to in words, and its error where it failed. */
export const toAnswer = ({ job, error }: JobOutcome, describeResult: (job: JobView) => Omit<Answer, 'json'>): Answer =>
  error === null ? { json: job, ...describeResult(job) } : { json: job, text: '', errors: [error] }

function toJobError(job: JobView): PkgdError {
  const { error } = job
  if (error === null) {
    return job.state === 'cancelled'
      ? new PkgdError('OPERATION_CANCELLED', `${job.kind} of ${job.subject} was cancelled`)
      : new PkgdError('DAEMON_UNREACHABLE', `The daemon went away during ${job.kind} of ${job.subject}`, { hint: `pkg jobs ${job.id}` })
  }
  return fromErrorRecord(error)
}

function describe(job: JobView): string {
  const percent = job.progress === null ? '' : ` ${Math.round(job.progress * 100)} %`
  return `${job.kind} ${job.subject}: ${job.stage ?? job.state}${percent}${job.message ? ` (${job.message})` : ''}`
}
