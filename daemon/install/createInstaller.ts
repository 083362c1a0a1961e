import { readLockfile } from '../../registry/lockfile/lockfileOnDisk.ts'
import { PkgdError } from '../core/errors.ts'
import type { OperationContext } from '../core/ports.ts'
import { createKeyedLock } from '../lifecycle/keyedLock.ts'
import type { PackageRecord } from '../store/state.ts'
import { mendLockfile, readCurrentLockfile } from './commit/currentLockfile.ts'
import type { Installer, InstallRequest, InstallResult } from './installer.ts'
import type { InstallerDeps, InstallerParts } from './installerDeps.ts'
import { performInstall } from './performInstall.ts'
import { decidePackages } from './plan/decidePackages.ts'
import type { InstallPlan } from './plan/packagePlan.ts'
import { planLocked } from './plan/planLocked.ts'
import { planRequest } from './plan/planRequest.ts'
import { recover } from './recover.ts'
import { keepsData, uninstall } from './uninstall.ts'
import { withTimeLimit } from './withTimeLimit.ts'

type JobContext = OperationContext & { readonly jobId: string }

/** What a lockfile's install takes of a request: nothing is given anew, all stays as it was. */
const nothingGiven = { args: [], env: {}, secrets: {}, permissions: {} } as const

export function createInstaller(deps: InstallerDeps): Installer {
  const parts: InstallerParts = { ...deps, locks: createKeyedLock() }
  const { state, lifecycle, locks } = parts

  const start = async (id: string, context: OperationContext) => {
    context.progress({ stage: 'start', message: id })
    await lifecycle.start(id, context)
  }

  /** Plans, takes the packages for itself, and plans again if one of them changed meanwhile. */
  const planAlone = async (plan: () => Promise<InstallPlan>, turns: DisposableStack, context: OperationContext): Promise<InstallPlan> => {
    const first = await plan()
    for (const id of idsOf(first)) turns.use(await locks.acquire(id, context.signal))
    const stale = first.packages.some((one) => isOther(state.packages.get(one.planned.manifest.id), one.former))
    if (!stale) return first
    const second = await plan()
    if (idsOf(second).some((id) => !idsOf(first).includes(id))) {
      throw new PkgdError('CONFLICT', `Another install changed what ${first.root} needs`, { hint: 'try again' })
    }
    return second
  }

  /** Nothing is to be installed; the lockfile may still be in need. */
  const mendAlone = async (context: OperationContext) => {
    using _turn = await locks.acquire(parts.home.lockfile, context.signal)
    await mendLockfile(parts, context)
  }

  const install = async (request: InstallRequest, context: JobContext): Promise<InstallResult> => {
    const plan = async () => {
      const lockfile = request.frozen ? await readLockfile(parts.home.lockfile) : (await readCurrentLockfile(parts)).lockfile
      const { root, planned } = await planRequest(parts, request, lockfile, context)
      return decidePackages(parts, { planned, root, request, lockfile, frozen: request.frozen }, context)
    }
    using turns = new DisposableStack()
    const decided = await planAlone(plan, turns, context)
    if (decided.packages.length > 0) await performInstall(parts, decided, context)
    else await mendAlone(context)
    turns.dispose()
    if (request.start) await start(decided.root, context)
    return {
      package: lifecycle.get(decided.root),
      installed: decided.packages.map((one) => one.planned.manifest.id),
      unchanged: decided.unchanged,
      kept: decided.kept.get(decided.root) ?? [],
    }
  }

  const installLocked = async (
    request: Pick<InstallRequest, 'consent' | 'start'>,
    context: JobContext,
  ): Promise<readonly InstallResult[]> => {
    const plan = async () => {
      const lockfile = await readLockfile(parts.home.lockfile)
      const planned = await planLocked(parts, lockfile, Object.keys(lockfile.packages), context)
      const given = { ...nothingGiven, consent: request.consent }
      return decidePackages(parts, { planned, root: '', request: given, lockfile, frozen: true }, context)
    }
    using turns = new DisposableStack()
    const decided = await planAlone(plan, turns, context)
    if (decided.packages.length > 0) await performInstall(parts, decided, context)
    turns.dispose()
    const installed = new Set(decided.packages.map((one) => one.planned.manifest.id))
    const results: InstallResult[] = []
    for (const id of [...decided.unchanged, ...installed]) {
      if (request.start) await start(id, context)
      results.push({
        package: lifecycle.get(id),
        installed: installed.has(id) ? [id] : [],
        unchanged: installed.has(id) ? [] : [id],
        kept: decided.kept.get(id) ?? [],
      })
    }
    return results
  }

  const limited = <T>(context: JobContext, body: (context: JobContext) => Promise<T>): Promise<T> =>
    withTimeLimit({ clock: parts.clock, ms: parts.config().install.timeoutMs }, context, body)

  return {
    install: (request, context) => limited(context, (within) => install(request, within)),
    installLocked: (request, context) => limited(context, (within) => installLocked(request, within)),
    uninstall: (id, options, context) => uninstall(parts, id, options, context),
    keepsData: (id) => keepsData(parts, id),
    recover: () => recover(parts),
  }
}

/** Sorted, so that two installs that share packages never wait for each other. */
const idsOf = (plan: InstallPlan): string[] => plan.packages.map((one) => one.planned.manifest.id).sort()

const isOther = (now: PackageRecord | undefined, then: PackageRecord | undefined): boolean =>
  now?.tree !== then?.tree || now?.installedAt !== then?.installedAt
