import { hasCode, PkgdError } from '../core/errors.ts'
import type { OperationContext } from '../core/ports.ts'
import { createEngineWatch } from './engineWatch.ts'
import { ensureRunning } from './ensureRunning.ts'
import { createKeyedLock } from './keyedLock.ts'
import { createLastWords } from './lastWords.ts'
import type { Lifecycle, PackageView } from './lifecycle.ts'
import type { LifecycleDeps } from './lifecycleDeps.ts'
import { toPackageNotFound } from './notFound.ts'
import { createPackageSupervisor, heldReason, type PackageSupervisor } from './packageSupervisor.ts'
import { readLogs } from './readLogs.ts'
import { reconcile } from './reconcile.ts'
import { type Outcome, runInOrder, toStartOrder, toStopOrder } from './startOrder.ts'
import { createStartSlots } from './startSlots.ts'
import { createStatusWriter } from './statusWriter.ts'
import type { SupervisorDeps } from './supervision.ts'

/** How long to wait before an engine that does not answer, and is not said to be away, is asked again. */
const askAgainMs = 1_000

/** Runs packages on a driver. Nothing happens before `open`. */
export function createLifecycle(deps: LifecycleDeps): Lifecycle {
  const { state, driver, bus, clock, config, log } = deps
  const supervisors = new Map<string, PackageSupervisor>()
  const statuses = createStatusWriter({ state, bus, clock })
  const lock = createKeyedLock()
  const lastWords = createLastWords({ driver, clock, log })
  const slots = createStartSlots(() => config().lifecycle.parallel, clock)
  const closing = new AbortController()
  const quiet: OperationContext = { signal: closing.signal, progress: () => undefined }
  const background = new Set<Promise<void>>()
  const waking = new Map<string, Promise<void>>()
  let unsubscribe = () => {}

  const supervisorOf = (id: string): PackageSupervisor => {
    const supervisor = supervisors.get(id) ?? createPackageSupervisor(id, supervisorDeps)
    supervisors.set(id, supervisor)
    return supervisor
  }
  const find = (id: string): PackageView => {
    const record = state.packages.get(id)
    if (record) return { record, status: statuses.get(id), sandbox: state.sandboxes.get(id) ?? null }
    throw toPackageNotFound(
      id,
      state.packages.list().map((each) => each.id),
    )
  }
  const listNeeds = () => new Map(state.packages.list().map(({ id, manifest }) => [id, Object.keys(manifest.dependencies.extensions)]))

  /** Starts `ids` and what they need, each as soon as what it needs is up. */
  const startAll = (ids: readonly string[], start: (id: string) => Promise<void>) => {
    const needs = listNeeds()
    return runInOrder(toStartOrder(ids, needs), (id) => needs.get(id) ?? [], start)
  }
  const inBackground = (work: Promise<void>) => {
    const guarded = work.catch((error: unknown) => log.error('work in the background failed', { error }))
    background.add(guarded)
    void guarded.finally(() => background.delete(guarded))
  }
  const boot = async (ids: readonly string[]) => {
    for (const [id, outcome] of await startAll(ids, (each) => supervisorOf(each).start('boot', quiet))) {
      if (closing.signal.aborted) return
      if (outcome.kind === 'failed') log.warn('a package did not start', { package: id, error: String(outcome.error) })
      if (outcome.kind === 'held') supervisorOf(id).hold(outcome.by)
    }
  }
  /** Those that wait for `id`, which is up now. */
  const bootHeld = (id: string) => {
    const held = state.packages.list().filter(({ id: other, manifest }) => {
      return Object.hasOwn(manifest.dependencies.extensions, id) && statuses.get(other).reason === heldReason
    })
    if (held.length > 0) inBackground(boot(held.map((record) => record.id)))
  }
  /** Adopts, sweeps, and starts in the background what should run. While the engine is away all stays as it is. */
  const settle = async (only?: ReadonlySet<string>): Promise<void> => {
    try {
      const { due, busy } = await reconcile({ ...deps, statuses, supervisorOf, isBusy: lock.isHeld }, only)
      if (closing.signal.aborted) return
      if (due.length > 0) inBackground(boot(due))
      if (busy.length > 0) inBackground(settleLater(busy))
    } catch (error) {
      if (!hasCode(error, 'ENGINE_UNREACHABLE')) throw error
      log.warn('what runs is not known: the engine does not answer', { error: String(error) })
      if (!engine.lost && !closing.signal.aborted) inBackground(settleAgain(only))
    }
  }
  const settleAgain = async (only: ReadonlySet<string> | undefined): Promise<void> => {
    await new Promise<void>((resolve) => {
      const done = () => {
        cancel()
        closing.signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = clock.after(askAgainMs, done)
      closing.signal.addEventListener('abort', done)
    })
    if (!closing.signal.aborted) await settle(only)
  }
  const settleLater = async (busy: readonly string[]): Promise<void> => {
    await Promise.all(busy.map(lock.whenFree))
    if (!closing.signal.aborted) await settle(new Set(busy))
  }
  /** Wakes a sleeping package after what it needs; those who ask at once share it, and none of them can cancel it. */
  const wake = (id: string): Promise<void> => {
    const run = async () => {
      const outcomes = await startAll([id], (each) => supervisorOf(each).start(each === id ? 'call' : 'boot', quiet))
      expectDone(id, outcomes.get(id))
    }
    const shared = waking.get(id) ?? run().finally(() => waking.delete(id))
    waking.set(id, shared)
    return shared
  }

  const engine = createEngineWatch({
    driver,
    log,
    onLost: (reason) => bus.publish('driver.degraded', driver.name, { reason }),
    onFound: () => {
      bus.publish('driver.recovered', driver.name, {})
      inBackground(settle())
    },
    onSandbox: (event) => {
      for (const supervisor of supervisors.values()) supervisor.sandboxEvent(event)
    },
  })
  const supervisorDeps: SupervisorDeps = { ...deps, slots, lastWords, statuses, lock, engineLost: () => engine.lost }

  const lifecycle: Lifecycle = {
    async open() {
      for (const record of state.packages.list()) statuses.begin(record)
      unsubscribe = bus.subscribe('package.state', ({ subject, data }) => {
        if (subject && (data as { to?: unknown }).to === 'running') bootHeld(subject)
      })
      engine.start()
      await settle()
    },
    async sweep() {
      const before = await driver.list()
      await settle()
      const left = new Set((await driver.list()).map(({ handle }) => handle.id))
      return before.filter(({ handle }) => !left.has(handle.id)).map(({ handle }) => handle.name)
    },
    list: () => state.packages.list().map(({ id }) => find(id)),
    get: find,
    async start(id, context) {
      find(id)
      const outcomes = await startAll([id], (each) => {
        context.progress({ stage: 'start', message: each })
        return supervisorOf(each).start('user', context)
      })
      expectDone(id, outcomes.get(id))
      return find(id)
    },
    async stop(id, context) {
      find(id)
      const needs = listNeeds()
      const order = toStopOrder(id, needs).filter((each) => each === id || statuses.get(each).state !== 'stopped')
      const dependents = (each: string) => order.filter((other) => needs.get(other)?.includes(each))
      const outcomes = await runInOrder(order, dependents, (each) => {
        context.progress({ stage: 'stop', message: each === id ? each : `${each}, which needs ${id}` })
        return supervisorOf(each).stop()
      })
      for (const outcome of outcomes.values()) if (outcome.kind === 'failed') throw outcome.error
      return find(id)
    },
    async restart(id, context) {
      find(id)
      const outcomes = await startAll([id], (each) => {
        context.progress({ stage: each === id ? 'restart' : 'start', message: each })
        return each === id ? supervisorOf(each).restart(context) : supervisorOf(each).start('user', context)
      })
      expectDone(id, outcomes.get(id))
      return find(id)
    },
    withStopped: (id, body, context) => supervisorOf(id).withStopped(body, context.signal),
    added(id) {
      statuses.begin(find(id).record)
    },
    async removed(id) {
      const supervisor = supervisorOf(id)
      supervisors.delete(id)
      await supervisor.forget()
      for (const host of Object.values(deps.hosts)) host?.forget(id)
      lastWords.forget(id)
      statuses.remove(id)
    },
    ensureRunning: (id, signal) => ensureRunning({ find, supervisorOf, wake, closing: closing.signal }, id, signal),
    logs: (id, query) => readLogs({ driver, lastWords }, find(id), query),
    async stats(id) {
      const { sandbox } = find(id)
      if (!sandbox) throw new PkgdError('NOT_RUNNING', `${id} is not running`, { hint: `pkg start ${id}` })
      return driver.stats(sandbox.handle)
    },
    async [Symbol.asyncDispose]() {
      const reason = new PkgdError('OPERATION_CANCELLED', 'The daemon is ending')
      closing.abort(reason)
      unsubscribe()
      await engine[Symbol.asyncDispose]()
      await Promise.all([...supervisors.values()].map((supervisor) => supervisor.close(reason)))
      await Promise.all(background)
    },
  }
  return lifecycle
}

function expectDone(id: string, outcome: Outcome | undefined): void {
  if (outcome?.kind === 'failed') throw outcome.error
  if (outcome?.kind === 'held') {
    throw new PkgdError('START_FAILED', `${id} needs ${outcome.by}, which did not start`, { hint: `see why: pkg info ${outcome.by}` })
  }
}
