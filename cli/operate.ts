import type { JobAccepted } from '../daemon/api/schemas/jobs.ts'
import type { PackageView } from '../daemon/api/schemas/packages.ts'
import type { Answer, Invocation, OptionSpec } from './command.ts'
import { followJob } from './followJob.ts'

/** Starts, stops or restarts the packages named, one after the other; the answer is the finished job, or all of them when there are several. */
export async function operate(
  verb: 'start' | 'stop' | 'restart',
  { args, client, terminal, signal }: Invocation<Readonly<Record<string, OptionSpec>>>,
): Promise<Answer> {
  const jobs = []
  for (const id of args) {
    const accepted = await client.post<JobAccepted>(`/v1/packages/${encodeURIComponent(id)}/${verb}`, undefined, { signal })
    jobs.push(await followJob(client, terminal, accepted, signal))
  }
  const text = jobs.map(({ result }) => {
    const view = result as PackageView
    return `${view.id} ${view.version} is ${view.state}`
  })
  return { json: jobs.length === 1 ? jobs[0] : jobs, text: text.join('\n') }
}
