import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PkgdError } from '../../../../daemon/core/errors.ts'
import { locateHome } from '../../../../daemon/core/home.ts'
import type { OperationContext } from '../../../../daemon/core/ports.ts'
import { createEventBus } from '../../../../daemon/events/createEventBus.ts'
import { createJobRunner } from '../../../../daemon/jobs/createJobRunner.ts'
import { openState } from '../../../../daemon/store/openState.ts'
import type { JobRecord, State } from '../../../../daemon/store/state.ts'
import { createManualClock, createMemoryLog } from '../manual.ts'

let root: string
let state: State
const clock = createManualClock()
const log = createMemoryLog()
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pkgd-jobs-'))
  state = openState({ home: locateHome({ PKGD_HOME: root }), clock, log })
})
afterEach(() => {
  state[Symbol.dispose]()
  rmSync(root, { recursive: true, force: true })
})

const bus = () => createEventBus({ events: state.events, source: 's', keep: () => ({ keepMs: 3600_000, keepAtMost: 1000 }), clock, log })
const open = () => createJobRunner({ jobs: state.jobs, events: bus(), clock, log })

/** Work that ends when the test says. */
const createWork = () => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let context: OperationContext | undefined
  let runs = 0
  return {
    resolve,
    reject,
    runs: () => runs,
    context: () => {
      if (!context) throw new Error('not started')
      return context
    },
    run: (given: OperationContext) => {
      runs++
      context = given
      given.signal.addEventListener('abort', () => reject(given.signal.reason))
      return promise
    },
  }
}
const request = (work: ReturnType<typeof createWork>, key = 'k') => ({ kind: 'install', subject: 'x', key, run: work.run })
const turn = () => new Promise(setImmediate)

test('a job is stored at once, runs, and its result is stored', async () => {
  const jobs = open()
  const work = createWork()
  const { id, state: first } = jobs.submit(request(work))
  expect(first).toBe('queued')
  expect(state.jobs.get(id)?.state).toBe('queued')
  await turn()
  expect(state.jobs.get(id)?.state).toBe('running')
  work.resolve('done')
  expect(await jobs.wait(id)).toMatchObject({ state: 'succeeded', result: 'done', error: null })
  expect(state.jobs.get(id)).toMatchObject({ state: 'succeeded', result: 'done' })
  expect(state.events.since('0', 99).map(({ type, subject, data }) => [type, subject, (data as { state: string }).state])).toEqual(
    ['queued', 'running', 'succeeded'].map((at) => ['job.updated', id, at]),
  )
})

test('twins become one; after its end the key is free', async () => {
  const jobs = open()
  const [work, other] = [createWork(), createWork()]
  const first = jobs.submit(request(work))
  const twin = jobs.submit(request(other))
  const stranger = jobs.submit(request(other, 'another'))
  expect(twin.id).toBe(first.id)
  expect(stranger.id).not.toBe(first.id)
  work.resolve('')
  other.resolve('')
  await Promise.all([jobs.wait(first.id), jobs.wait(stranger.id)])
  expect([work.runs(), other.runs()]).toEqual([1, 1])
  const again = jobs.submit(request(other))
  expect(again.id).not.toBe(first.id)
  await jobs.wait(again.id)
})

test('a job that is still being undone does not take the key of the one that came after it', async () => {
  const jobs = open()
  const undone = Promise.withResolvers<string>()
  const first = jobs.submit({ kind: 'install', subject: 'x', key: 'k', run: () => undone.promise })
  await turn()
  jobs.cancel(first.id)
  const work = createWork()
  const second = jobs.submit(request(work))
  expect(second.id).not.toBe(first.id)
  undone.reject(new Error('undone'))
  expect((await jobs.wait(first.id)).state).toBe('cancelled')
  expect(jobs.submit(request(createWork())).id).toBe(second.id)
  work.resolve('')
  await jobs.wait(second.id)
})

test('what a package did is told without a trace of pkgd; what pkgd did, with it', async () => {
  const jobs = open()
  for (const code of ['PACKAGE_CRASHED', 'DEPENDENCY_INSTALL_FAILED'] as const) {
    log.lines.length = 0
    const { id } = jobs.submit({ kind: 'start', subject: 'x', key: code, run: () => Promise.reject(new PkgdError(code, 'it died')) })
    await jobs.wait(id)
    const [line = ''] = log.lines.filter((each) => each.includes('it died'))
    expect(line).toMatch(code === 'PACKAGE_CRASHED' ? /^info .*"detail"/ : /^warn .*"error"/)
  }
})

test.each([
  [
    new PkgdError('MANIFEST_INVALID', 'wrong', { hint: 'fix it', issues: [{ pointer: '/id', message: 'bad' }] }),
    'MANIFEST_INVALID',
    'wrong',
  ],
  [new Error('secret internals'), 'INTERNAL', 'Something went wrong inside pkgd'],
  [Object.assign(new Error('x'), { code: 'ENOSPC' }), 'DISK_FULL', 'No space is left on the disk'],
])('a failure is kept with its code: %s', async (thrown, code, message) => {
  const jobs = open()
  const work = createWork()
  const { id } = jobs.submit(request(work))
  await turn()
  work.reject(thrown)
  const { state: ended, error } = await jobs.wait(id)
  expect(ended).toBe('failed')
  expect(error).toMatchObject({ code, message })
  if (code === 'MANIFEST_INVALID') expect(error?.issues).toEqual([{ pointer: '/id', message: 'bad' }])
  expect(log.lines.join()).toContain(thrown.message)
})

test('progress: each stage is told, within one at most every 200 ms', async () => {
  const jobs = open()
  const work = createWork()
  const { id } = jobs.submit(request(work))
  const told: JobRecord[] = []
  const following = (async () => {
    for await (const job of jobs.follow(id, new AbortController().signal)) told.push(job)
  })()
  await turn()
  const { progress } = work.context()
  progress({ stage: 'fetch', fraction: 0 })
  await turn()
  progress({ stage: 'fetch', fraction: 0.1 })
  await turn()
  clock.advance(200)
  progress({ stage: 'fetch', fraction: 0.5 })
  await turn()
  progress({ stage: 'unpack', message: 'files' })
  await turn()
  work.resolve('')
  await following
  expect(told.map(({ state: at, stage, progress: fraction }) => [at, stage, fraction])).toEqual([
    ['queued', null, null],
    ['running', null, null],
    ['running', 'fetch', 0],
    ['running', 'fetch', 0.5],
    ['running', 'unpack', null],
    ['succeeded', 'unpack', 1],
  ])
})

test('cancelling aborts the work; close cancels all and takes no more', async () => {
  const jobs = open()
  const [one, two] = [createWork(), createWork()]
  const first = jobs.submit(request(one))
  const second = jobs.submit(request(two, 'other'))
  await turn()
  jobs.cancel(first.id)
  expect(await jobs.wait(first.id)).toMatchObject({ state: 'cancelled', error: { code: 'OPERATION_CANCELLED' } })
  await jobs.close()
  expect(jobs.get(second.id)).toMatchObject({ state: 'cancelled', error: { message: 'The daemon was stopped' } })
  expect(() => jobs.submit(request(createWork(), 'third'))).toThrow(expect.objectContaining({ code: 'OPERATION_CANCELLED' }))
  expect(jobs.cancel('unknown')).toBeUndefined()
  await expect(jobs.wait('unknown')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('wait gives up at its signal, the job goes on', async () => {
  const jobs = open()
  const work = createWork()
  const { id } = jobs.submit(request(work))
  const abort = new AbortController()
  const waiting = jobs.wait(id, abort.signal)
  await turn()
  abort.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  work.resolve('')
  expect((await jobs.wait(id)).state).toBe('succeeded')
})

test('what a dead daemon left unfinished is failed at start, and said', async () => {
  const dead = open()
  const { id } = dead.submit(request(createWork()))
  await turn()
  const jobs = open()
  expect(jobs.get(id)).toMatchObject({ state: 'failed', error: { code: 'OPERATION_CANCELLED' } })
  expect(state.events.since('0', 99).at(-1)).toMatchObject({ subject: id, data: { state: 'failed' } })
})
