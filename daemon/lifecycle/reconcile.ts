import { assertNever } from '../core/errors.ts'
import type { Logger } from '../core/ports.ts'
import type { PackageRecord } from '../store/state.ts'
import { decideReconcile, type Verdict, type Wish } from './decideReconcile.ts'
import { readSpecKey, toSpecHash } from './launchSpec.ts'
import type { LaunchPlan, LifecycleDeps } from './lifecycleDeps.ts'
import type { PackageSupervisor } from './packageSupervisor.ts'
import { removeSandbox } from './removeSandbox.ts'
import type { StatusWriter } from './statusWriter.ts'

export interface ReconcileDeps extends LifecycleDeps {
  readonly statuses: StatusWriter
  readonly supervisorOf: (id: string) => PackageSupervisor
  readonly isBusy: (id: string) => boolean
}

export interface Reconciled {
  /** What is to be started, in no order. */
  readonly due: readonly string[]
  /** What was left out because something was under way with it: to be looked at again when that is over. */
  readonly busy: readonly string[]
}

/**
 * Makes what is and what should be agree: after the daemon's start and after the engine was away. `only`: for these packages alone.
 * Errors: ENGINE_UNREACHABLE, with nothing done.
 */
export async function reconcile(deps: ReconcileDeps, only?: ReadonlySet<string>): Promise<Reconciled> {
  const { driver, state, isBusy } = deps
  const records = state.packages.list()
  const busyBefore = new Set(records.filter(({ id }) => isBusy(id)).map(({ id }) => id))
  const [present, specs] = await Promise.all([driver.list(), hashAll(deps, records)])
  // From here to the verdicts nothing else runs: what was under way when the list was made is left out.
  const wishes = state.packages.list().map((record): Wish => {
    const { desired, state: at } = deps.statuses.get(record.id)
    return {
      id: record.id,
      version: record.version,
      desired,
      onDemand: record.manifest.start.mode === 'on-demand',
      state: at,
      spec: specs.get(record.id) ?? null,
      live: deps.supervisorOf(record.id).live()?.handle.id ?? null,
      busy: only?.has(record.id) === false || busyBefore.has(record.id) || isBusy(record.id),
    }
  })
  const verdicts = decideReconcile(state.sandboxes.list(), present, wishes)
  const starts = await Promise.all(verdicts.map((verdict) => carryOut(deps, verdict)))
  const busy = wishes.filter((wish) => wish.busy && only?.has(wish.id) !== false)
  return { due: starts.filter((id) => id !== null), busy: busy.map((wish) => wish.id) }
}

/** What each package's sandbox would be now; one whose values are missing has no entry. */
async function hashAll({ planLaunch, state, log }: ReconcileDeps, records: readonly PackageRecord[]): Promise<Map<string, string>> {
  const key = readSpecKey(state)
  const hashes = await Promise.all(
    records.map(async (record): Promise<[string, string][]> => {
      try {
        const plan: LaunchPlan = await planLaunch(record)
        return [[record.id, toSpecHash(record, plan, key)]]
      } catch (error) {
        log.debug('what a package would be launched as is not known', { package: record.id, error: String(error) })
        return []
      }
    }),
  )
  return new Map(hashes.flat())
}

/** Answers the package that is to be started, or null. One sandbox that resists keeps no other from its verdict. */
async function carryOut(deps: ReconcileDeps, verdict: Verdict): Promise<string | null> {
  const { state, log, supervisorOf } = deps
  switch (verdict.kind) {
    case 'adopt':
      return adopt(deps, verdict)
    case 'remove':
      await sweep(deps, verdict)
      return null
    case 'drop':
      state.sandboxes.remove(verdict.id)
      return null
    case 'missed':
      supervisorOf(verdict.id).missed(verdict.end)
      return null
    case 'vacate':
      supervisorOf(verdict.id).vacate('sandbox-gone')
      return null
    case 'start':
      log.info('it should run and does not', { package: verdict.id })
      return verdict.id
    default:
      return assertNever(verdict)
  }
}

async function adopt(
  { supervisorOf, log, state }: ReconcileDeps,
  { known, info }: Extract<Verdict, { kind: 'adopt' }>,
): Promise<string | null> {
  const { packageId } = known
  try {
    if (await supervisorOf(packageId).adopt(known, info)) return null
    return state.packages.get(packageId)?.manifest.start.mode === 'eager' ? packageId : null
  } catch (error) {
    log.warn('an adoption was broken off', { package: packageId, error: String(error) })
    return null
  }
}

/** With a state that was set aside or restored nobody can say what is unknown: then it is only reported. */
async function sweep(
  { state, driver, log }: { state: ReconcileDeps['state']; driver: ReconcileDeps['driver']; log: Logger },
  { info, why }: Extract<Verdict, { kind: 'remove' }>,
): Promise<void> {
  const fields = { sandbox: info.handle.name, package: info.identity.packageId, why }
  if (state.restored && why === 'unknown') {
    log.warn('a sandbox that nobody knows is left alone until pkg doctor --repair', fields)
    return
  }
  try {
    log.info('a sandbox is removed', fields)
    await removeSandbox({ driver, state }, info.identity.packageId, info.handle)
  } catch (error) {
    log.warn('a sandbox could not be removed', { ...fields, error: String(error) })
  }
}
