import type { Lockfile } from '../../../registry/lockfile/lockfile.ts'
import { satisfies } from '../../../registry/lockfile/satisfies.ts'
import { parseSpec } from '../../../registry/resolve/parseSpec.ts'
import { planGraph } from '../../../registry/resolve/planGraph.ts'
import type { PlannedPackage, Source } from '../../../registry/resolve/resolution.ts'
import { PkgdError } from '../../core/errors.ts'
import type { OperationContext } from '../../core/ports.ts'
import type { InstallRequest } from '../installer.ts'
import type { InstallerParts } from '../installerDeps.ts'
import { planLocked } from './planLocked.ts'

export interface RequestPlan {
  /** The id of what was asked for. */
  readonly root: string
  readonly planned: readonly PlannedPackage[]
}

/** Which packages a request comes to, from their sources or, with `frozen`, from the lockfile. Writes nothing. Errors: those of the spec, the sources, the manifests and the graph. */
export async function planRequest(
  parts: Pick<InstallerParts, 'resolver' | 'state' | 'home'>,
  request: Pick<InstallRequest, 'spec' | 'integrity' | 'frozen'>,
  lockfile: Lockfile,
  context: OperationContext,
): Promise<RequestPlan> {
  // Paths in a spec are absolute: the daemon's own folder means nothing to its users.
  const source = parseSpec(request.spec, parts.home.root, request.integrity)
  context.progress({ stage: 'plan', message: request.spec })
  return request.frozen ? planFrozen(parts, request.spec, source, lockfile, context) : planAfresh(parts, source, lockfile, context)
}

async function planAfresh(
  { resolver, state }: Pick<InstallerParts, 'resolver' | 'state'>,
  source: Source,
  lock: Lockfile,
  context: OperationContext,
): Promise<RequestPlan> {
  const root = await resolver.resolve(source, context)
  const plan = await planGraph({ root, installed: state.packages.list(), candidates: (id) => resolver.versions(id, context), lock })
  return { root: plan.root, planned: plan.packages }
}

async function planFrozen(
  parts: Pick<InstallerParts, 'resolver' | 'state'>,
  spec: string,
  source: Source,
  lockfile: Lockfile,
  context: OperationContext,
): Promise<RequestPlan> {
  const verdict = satisfies(lockfile, source)
  if (verdict.kind === 'outdated') {
    throw new PkgdError('LOCKFILE_OUTDATED', `pkgd.lock does not have ${spec}: ${verdict.reason}`, {
      hint: 'install it without --frozen to lock it',
    })
  }
  return { root: verdict.id, planned: await planLocked(parts, lockfile, [verdict.id], context) }
}
