import type { SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import { findCoded, PkgdError } from '../core/errors.ts'
import type { OperationContext } from '../core/ports.ts'
import type { SandboxExit } from '../core/types.ts'
import type { PackageRecord } from '../store/state.ts'
import { connectRun, pickHost } from './connectRun.ts'
import type { LastWords } from './lastWords.ts'
import { quoteLastWords } from './lastWords.ts'
import { readSpecKey, toLaunchSpec, toSpecHash } from './launchSpec.ts'
import type { LaunchPlan, LifecycleDeps } from './lifecycleDeps.ts'
import { createPackageRedactor } from './packageRedactor.ts'
import { removeSandbox } from './removeSandbox.ts'
import { createRun, noteExit, type Run } from './run.ts'
import type { StartSlots } from './startSlots.ts'
import { toStartError } from './toStartError.ts'
import { withDeadline } from './withDeadline.ts'

export type StartDeps = LifecycleDeps & { readonly slots: StartSlots; readonly lastWords: LastWords }

type Launched = Awaited<ReturnType<SandboxDriver['launch']>>

export interface StartOptions extends OperationContext {
  /** The sandbox exists: from now on its end is told through `run.over`. */
  readonly onLaunched: (run: Run) => void
}

/** A start that hangs gives its slot back after this long. */
const slotMs = 5_000
/** How long the engine may take to tell of an exit after the channel broke. */
const exitNoticeMs = 500
const shownDifferences = 5

/** Starts one package and waits until it is ready. What fails leaves no sandbox behind. */
export async function startPackage(deps: StartDeps, record: PackageRecord, options: StartOptions): Promise<Run> {
  const { driver, clock, config, state } = deps
  pickHost(deps.hosts, record)
  options.progress({ stage: 'check' })
  const plan = await deps.planLaunch(record)
  const pullMs = config().lifecycle.pullTimeoutMs
  const image = await withDeadline(
    {
      clock,
      ms: pullMs,
      signal: options.signal,
      expired: () => new PkgdError('IMAGE_UNAVAILABLE', `The image of ${record.id} was not ready within ${pullMs / 1000} s`),
    },
    (signal) => driver.prepareImage(plan.image, { signal, progress: options.progress }),
  )
  const data = record.grants.data ? await driver.volumes.ensure(record.id, record.uid) : null
  using _slot = await deps.slots.acquire(slotMs, options.signal)
  // In the slot: of many starts at once the first are on their way to the engine while the trees of the next are looked at.
  await assertIntact(deps, record)

  const leftover = state.sandboxes.get(record.id)
  if (leftover) await removeSandbox(deps, record.id, leftover.handle)
  options.progress({ stage: 'launch' })
  const spec = toSpecHash(record, plan, readSpecKey(state))
  const run = await launch(deps, record, { spec, plan, image, data }, options)
  options.onLaunched(run)
  try {
    options.progress({ stage: 'handshake' })
    run.session = await connectRun(deps, run, { session: undefined, ms: config().lifecycle.handshakeTimeoutMs, signal: options.signal })
    run.readyAt = clock.now()
    return run
  } catch (error) {
    throw await abandon(deps, run, plan, error)
  }
}

/** Errors: TREE_CHANGED, naming the files. */
async function assertIntact({ store }: StartDeps, record: PackageRecord): Promise<void> {
  const differences = await store.verify(record.tree, 'quick')
  if (differences.length === 0) return
  const shown = differences.slice(0, shownDifferences).map(({ path, problem }) => `${path} (${problem})`)
  const more = differences.length - shown.length
  throw new PkgdError(
    'TREE_CHANGED',
    `Installed files of ${record.id} differ from what was recorded at install: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    { hint: `install it again: pkg uninstall ${record.id}, then pkg install` },
  )
}

async function launch(
  deps: StartDeps,
  record: PackageRecord,
  parts: Pick<Parameters<typeof toLaunchSpec>[1], 'spec' | 'plan' | 'image' | 'data'>,
  { signal, progress }: StartOptions,
): Promise<Run> {
  const { driver, clock, config, state, log } = deps
  const bootMs = config().lifecycle.bootTimeoutMs
  const spec = toLaunchSpec(record, { ...parts, daemon: state.daemonId, config: config() })
  const { handle, report } = await withDeadline<Launched>(
    {
      clock,
      ms: bootMs,
      signal,
      expired: () => new PkgdError('START_FAILED', `The sandbox of ${record.id} was not up within ${bootMs / 1000} s`),
      late: ({ handle }) => {
        driver
          .destroy(handle)
          .catch((error: unknown) => log.warn('a sandbox that came too late stays', { ...handle, error: String(error) }))
      },
    },
    (own) => driver.launch(spec, { signal: own, progress }),
  )
  // On the disk before anything else: whoever finds this sandbox after the daemon's death knows whose it is.
  state.sandboxes.put({
    packageId: record.id,
    handle,
    spec: parts.spec,
    report,
    launchedAt: new Date(clock.now()).toISOString(),
    session: null,
  })
  return createRun(record, handle, createPackageRedactor(record, state.secrets))
}

/** Finds out why it did not get ready, removes the sandbox and answers the error to end with. */
async function abandon(deps: StartDeps, run: Run, plan: LaunchPlan, error: unknown): Promise<unknown> {
  const { log, lastWords } = deps
  const { record, handle } = run
  run.over.abort(error)
  // What it ended with by itself: its removal below is an end as well.
  const exit = await findExit(deps, run, error)
  const said = quoteLastWords(await lastWords.capture(record.id, handle), run.redactor)
  try {
    await removeSandbox(deps, record.id, handle)
  } catch (stuck) {
    log.warn('the sandbox of a failed start stays until the engine answers', { package: record.id, error: String(stuck) })
  }
  if (findCoded(error)?.code === 'OPERATION_CANCELLED') return error
  return toStartError({ record, command: plan.command, error, exit, said })
}

/** An end that only shows as a broken channel so far: the engine is asked, and given a moment to notice. */
async function findExit({ driver, clock, log }: StartDeps, run: Run, error: unknown): Promise<SandboxExit | null> {
  if (run.exit) return run.exit
  try {
    const info = await driver.recover(run.handle)
    if (info?.status.state === 'exited') noteExit(run, info.status.exit)
    else if (findCoded(error)?.code === 'PACKAGE_CRASHED') {
      const expired = () => new Error('The sandbox is still running')
      await withDeadline({ clock, ms: exitNoticeMs, signal: new AbortController().signal, expired }, () => run.exited.promise)
    }
  } catch (unknown) {
    log.debug('how a sandbox ended is not known', { package: run.record.id, error: String(unknown) })
  }
  return run.exit
}
