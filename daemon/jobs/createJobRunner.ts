import { randomBytes } from 'node:crypto'
import { toErrorRecord } from '../core/errorRecord.ts'
import { findCoded, isPackageFault, PkgdError } from '../core/errors.ts'
import type { Clock, Logger, Progress } from '../core/ports.ts'
import type { EventBus } from '../events/eventBus.ts'
import type { JobRecord, State } from '../store/state.ts'
import type { JobRequest, JobRunner } from './jobRunner.ts'

interface JobRunnerDeps {
  readonly jobs: State['jobs']
  readonly events: EventBus
  readonly clock: Clock
  readonly log: Logger
}

interface LiveJob {
  record: JobRecord
  readonly key: string
  readonly abort: AbortController
  readonly watchers: Set<() => void>
  readonly done: Promise<void>
}

/** Progress within a stage is told at most this often. */
const progressEveryMs = 200
const keepAtMost = 1000

const isFinished = ({ state }: JobRecord) => state !== 'queued' && state !== 'running'

export function createJobRunner({ jobs, events, clock, log }: JobRunnerDeps): JobRunner {
  const live = new Map<string, LiveJob>()
  const byKey = new Map<string, LiveJob>()
  let closing = false

  const now = () => new Date(clock.now()).toISOString()

  const announce = (job: JobRecord) =>
    events.publish('job.updated', job.id, { kind: job.kind, state: job.state, ...(job.stage === null ? {} : { stage: job.stage }) })

  const dead = jobs.failUnfinished({
    code: 'OPERATION_CANCELLED',
    message: 'The daemon ended while the job was under way; what it had changed was undone',
    hint: 'run it again',
    at: now(),
  })
  for (const job of dead) announce(job)
  jobs.prune(keepAtMost)

  const update = (job: LiveJob, change: Partial<JobRecord>, quiet = false) => {
    job.record = { ...job.record, ...change, updatedAt: now() }
    try {
      jobs.put(job.record)
      if (!quiet) announce(job.record)
    } catch (error) {
      // Its followers still learn the outcome; a daemon that dies now marks it as failed at the next start.
      log.error('a job could not be stored', { job: job.record.id, state: job.record.state, error })
    }
    for (const wake of job.watchers) wake()
  }

  const createProgress = (job: () => LiveJob) => {
    let toldAt = Number.NEGATIVE_INFINITY
    return ({ stage, message, fraction }: Progress) => {
      const { record } = job()
      if (isFinished(record)) return
      const sameStage = stage === record.stage
      if (sameStage && clock.now() - toldAt < progressEveryMs) return
      toldAt = clock.now()
      update(job(), { stage, message: message ?? null, progress: fraction ?? null }, sameStage)
    }
  }

  const run = async <T>(job: () => LiveJob, request: JobRequest<T>, signal: AbortSignal) => {
    await Promise.resolve()
    const { record } = job()
    let outcome: Partial<JobRecord>
    try {
      signal.throwIfAborted()
      update(job(), { state: 'running' })
      const result = await request.run({ signal, progress: createProgress(job), jobId: record.id })
      outcome = { state: 'succeeded', result: result ?? null, progress: 1 }
    } catch (error) {
      const cancelled = signal.aborted
      const fields = { job: record.id, kind: record.kind, subject: record.subject }
      const coded = findCoded(error)
      if (cancelled) log.info('a job was cancelled', fields)
      else if (coded && isPackageFault(coded.code))
        log.info('a job failed by its package', { ...fields, code: coded.code, detail: coded.message })
      else log.warn('a job failed', { ...fields, error })
      outcome = {
        state: cancelled ? 'cancelled' : 'failed',
        error: toErrorRecord(cancelled ? signal.reason : error, clock.now()),
      }
    }
    // A cancelled job leaves its key to the next of its kind while it is still being undone.
    if (byKey.get(request.key) === job()) byKey.delete(request.key)
    update(job(), outcome)
    live.delete(record.id)
  }

  const submit = <T>(request: JobRequest<T>): JobRecord => {
    const twin = byKey.get(request.key)
    if (twin && !twin.abort.signal.aborted) return twin.record
    if (closing) throw new PkgdError('OPERATION_CANCELLED', 'The daemon is stopping', { hint: 'try again once it has started' })
    const createdAt = now()
    const record: JobRecord = {
      id: `${clock.now().toString(36)}${randomBytes(5).toString('hex')}`,
      kind: request.kind,
      subject: request.subject,
      state: 'queued',
      stage: null,
      message: null,
      progress: null,
      error: null,
      result: null,
      createdAt,
      updatedAt: createdAt,
    }
    jobs.put(record)
    announce(record)
    const abort = new AbortController()
    const job: LiveJob = { record, key: request.key, abort, watchers: new Set(), done: run(() => job, request, abort.signal) }
    live.set(record.id, job)
    byKey.set(request.key, job)
    return record
  }

  const get = (id: string) => live.get(id)?.record ?? jobs.get(id)

  const find = (id: string): JobRecord => {
    const record = get(id)
    if (!record) throw new PkgdError('JOB_NOT_FOUND', `There is no job ${id}`, { hint: 'pkg jobs lists them' })
    return record
  }

  const changeOf = (job: LiveJob, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        job.watchers.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      job.watchers.add(wake)
      signal.addEventListener('abort', wake)
    })

  async function* follow(id: string, signal: AbortSignal): AsyncIterable<JobRecord> {
    let told = find(id)
    const job = live.get(id)
    yield told
    while (job && !isFinished(told) && !signal.aborted) {
      if (job.record === told) await changeOf(job, signal)
      if (signal.aborted || job.record === told) continue
      told = job.record
      yield told
    }
  }

  const cancelled = (why: string) => new PkgdError('OPERATION_CANCELLED', why, { hint: 'what it had changed was undone' })

  return {
    submit,
    get,
    // What is live is newer than what is stored: progress is written seldom.
    list: (query) => jobs.list(query).map((record) => live.get(record.id)?.record ?? record),
    follow,
    async wait(id, signal = new AbortController().signal) {
      let last = find(id)
      for await (const record of follow(id, signal)) last = record
      if (!isFinished(last)) signal.throwIfAborted()
      return last
    },
    cancel(id) {
      live.get(id)?.abort.abort(cancelled('The job was cancelled'))
      return get(id)
    },
    async close() {
      closing = true
      const running = [...live.values()]
      for (const { abort } of running) abort.abort(cancelled('The daemon was stopped'))
      await Promise.all(running.map(({ done }) => done))
    },
  }
}
