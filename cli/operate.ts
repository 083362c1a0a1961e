import type { JobAccepted, JobView } from '../daemon/api/schemas/jobs.ts'
import type { PackageView } from '../daemon/api/schemas/packages.ts'
import { PkgdError } from '../daemon/core/errors.ts'
import type { Answer, Invocation, OptionSpec } from './command.ts'
import { followJob } from './followJob.ts'

/** Starts, stops or restarts the packages named, one after the other; the answer is the finished job, or all of them when there are several. */
export async function operate(
  verb: 'start' | 'stop' | 'restart',
  { args, client, terminal, signal }: Invocation<Readonly<Record<string, OptionSpec>>>,
): Promise<Answer> {
  const jobs: JobView[] = []
  const errors: PkgdError[] = []
  for (const id of args) {
    try {
      const accepted = await client.post<JobAccepted>(`/v1/packages/${encodeURIComponent(id)}/${verb}`, undefined, { signal })
      const { job, error } = await followJob(client, terminal, accepted, signal)
      jobs.push(job)
      if (error) errors.push(error)
    } catch (error) {
      // One that cannot be started holds back no other; an interruption or a daemon that is gone holds back all.
      if (signal.aborted || !(error instanceof PkgdError) || error.code === 'DAEMON_UNREACHABLE') throw error
      errors.push(error)
    }
  }
  const views = jobs.flatMap(({ state, result }) => (state === 'succeeded' ? [result as PackageView] : []))
  return {
    json: args.length === 1 ? (jobs[0] ?? null) : jobs,
    text: views.map(({ id, version, state }) => `${id} ${version} is ${state}`).join('\n'),
    errors,
  }
}
