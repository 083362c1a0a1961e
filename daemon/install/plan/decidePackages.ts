import type { Lockfile } from '../../../registry/lockfile/lockfile.ts'
import { checkDependencySpecs } from '../../../registry/manifest/checkDependencySpecs.ts'
import type { PlannedPackage, Resolution } from '../../../registry/resolve/resolution.ts'
import { toCanonicalJson } from '../../core/canonicalJson.ts'
import { PkgdError } from '../../core/errors.ts'
import type { OperationContext } from '../../core/ports.ts'
import type { Grants, PackageRecord } from '../../store/state.ts'
import type { InstallRequest } from '../installer.ts'
import type { InstallerParts } from '../installerDeps.ts'
import { checkCeilings } from '../permissions/checkCeilings.ts'
import { checkMountSources } from '../permissions/checkMountSources.ts'
import { checkNetwork } from '../permissions/checkNetwork.ts'
import { decideGrants, requireConsent } from '../permissions/decideGrants.ts'
import type { Request } from '../permissions/listRequests.ts'
import { sayLeftData } from '../permissions/sayLeftData.ts'
import { isSameSource, toTakeOver } from '../permissions/takeOver.ts'
import { checkRuntimes } from '../runtimes/checkRuntimes.ts'
import { pickImage } from '../runtimes/pickImage.ts'
import { listKept } from './listKept.ts'
import type { InstallPlan, PackagePlan } from './packagePlan.ts'
import { toValues } from './toValues.ts'

export interface Decisions {
  readonly planned: readonly PlannedPackage[]
  /** Whose values and permissions the request's are. */
  readonly root: string
  readonly request: Pick<InstallRequest, 'args' | 'env' | 'secrets' | 'permissions' | 'consent'>
  readonly lockfile: Lockfile
  /** Whether what comes of it must be what the lockfile says. */
  readonly frozen: boolean
}

/**
 * Settles everything that can be refused, for all packages, before anything is written. Errors: TYPE_NOT_HOSTED, DEPENDENCY_SOURCE, LIMIT_ABOVE_CEILING,
 * MOUNT_REFUSED, CONSENT_REQUIRED, NETWORK_UNSUPPORTED, RUNTIME_UNSUPPORTED and the driver's.
 */
export async function decidePackages(parts: InstallerParts, decisions: Decisions, context: OperationContext): Promise<InstallPlan> {
  const { planned, root } = decisions
  const config = parts.config()
  const chosen = planned.filter(({ action, manifest }) => action !== 'keep' || manifest.id === root)
  const open: Request[] = []
  const granted: { one: PlannedPackage; former: PackageRecord | undefined; inherited: PackageRecord | undefined; grants: Grants }[] = []
  for (const one of chosen) {
    const { manifest } = one
    if (!parts.hosted.has(manifest.type)) {
      throw new PkgdError('TYPE_NOT_HOSTED', `${manifest.id} is an ${manifest.type}, which this daemon does not host`)
    }
    checkDependencySpecs(manifest, config.install.allowSources)
    const former = parts.state.packages.get(manifest.id)
    // What only has the same id gets nothing of what its predecessor was trusted with.
    const inherited = former && isSameSource(one, former, config.registries) ? former : undefined
    const permissions = manifest.id === root ? decisions.request.permissions : {}
    const decision = decideGrants(manifest, permissions, inherited)
    checkCeilings(manifest.id, decision.grants.limits, config.limits.max)
    const remembered = permissions.mounts === undefined ? manifest.id : null
    const kept = { pkgd: [parts.home.root], engine: decision.grants.mounts.length > 0 ? (await parts.driver.capabilities()).ownPlaces : [] }
    const mounts = await checkMountSources(decision.grants.mounts, kept, remembered)
    if (former && !inherited) open.push(toTakeOver(former))
    open.push(...(former ? decision.open : await sayLeftData(parts.driver, decision.open)))
    granted.push({ one, former, inherited, grants: { ...decision.grants, mounts } })
  }
  requireConsent(open, decisions.request.consent, new Set(granted.filter(({ inherited }) => inherited).map(({ one }) => one.manifest.id)))
  const capabilities = await parts.driver.capabilities()
  for (const { one, grants } of granted) checkNetwork(one.manifest.id, grants.network, capabilities)

  const packages: PackagePlan[] = []
  for (const { one, former, inherited, grants } of granted) {
    const { manifest } = one
    context.progress({ stage: 'image', message: manifest.id })
    const image = await parts.driver.prepareImage(pickImage(manifest), context)
    checkRuntimes(manifest, image)
    const request = manifest.id === root ? decisions.request : { args: [], env: {}, secrets: {}, permissions: {} }
    const values = toValues(manifest, request, inherited)
    const kept = listKept(manifest, request, { inherited, values, grants })
    const locked = decisions.frozen ? (decisions.lockfile.packages[manifest.id] ?? null) : null
    const present = await findPresent(parts, one, former, decisions.lockfile)
    packages.push({ planned: one, grants, image, ...values, former, kept, locked, present })
  }
  const ids = new Set(packages.filter((plan) => !isUnchanged(plan)).map((plan) => plan.planned.manifest.id))
  return {
    root,
    packages: packages.filter((plan) => ids.has(plan.planned.manifest.id)),
    unchanged: planned.map(({ manifest }) => manifest.id).filter((id) => !ids.has(id)),
    kept: new Map(packages.map((plan) => [plan.planned.manifest.id, plan.kept])),
  }
}

/** The installed tree, when the same bytes would only be made again. A folder may have changed under the same version, and so is always read again. */
async function findPresent(
  { store }: Pick<InstallerParts, 'store'>,
  { resolution }: PlannedPackage,
  former: PackageRecord | undefined,
  lockfile: Lockfile,
): Promise<PackagePlan['present']> {
  const locked = former && lockfile.packages[former.id]
  if (!former || !locked || locked.tree !== former.tree || resolution.kind === 'folder') return null
  if (!isSame(resolution, former.resolution)) return null
  const intact = (await store.has(former.tree)) && (await store.verify(former.tree, 'quick')).length === 0
  return intact ? { tree: former.tree, dependencies: locked.dependencies } : null
}

/** Whether installing it would change nothing that is recorded. */
function isUnchanged({ planned, former, present, command, env, grants, secrets, secretNames }: PackagePlan): boolean {
  if (!former || !present || Object.keys(secrets).length > 0) return false
  return isSame(
    [command, env, secretNames, grants, planned.manifest],
    [former.command, former.env, former.secrets, former.grants, former.manifest],
  )
}

const isSame = (a: Resolution | readonly unknown[], b: Resolution | readonly unknown[]): boolean =>
  toCanonicalJson(a) === toCanonicalJson(b)
