import type { RegistrySource } from '../../../registry/resolve/registrySource.ts'
import type { PlannedPackage } from '../../../registry/resolve/resolution.ts'
import { toSourceIdentity } from '../../../registry/resolve/sourceIdentity.ts'
import { toSpec } from '../../../registry/resolve/toSpec.ts'
import type { PackageRecord } from '../../store/state.ts'
import { toLockedSource } from '../plan/toLockedSource.ts'
import type { Request } from './listRequests.ts'

/** Whether a package is another version of what is installed under its id: only then does it keep what that was given. */
export function isSameSource(
  { resolution, manifest }: Pick<PlannedPackage, 'resolution' | 'manifest'>,
  former: PackageRecord,
  registries: readonly RegistrySource[],
): boolean {
  return toSourceIdentity({ resolution, version: manifest.version }, registries) === toSourceIdentity(former, registries)
}

/** What a package asks that takes the place of another one, even where it asks for nothing else. */
export function toTakeOver(former: PackageRecord): Request {
  const source = toLockedSource(former.resolution)
  const spec = toSpec(source.kind === 'https' ? { ...source, integrity: null } : source)
  return {
    packageId: former.id,
    kind: 'source',
    key: 'source',
    text: `this replaces ${former.id} from ${spec}, whose values and permissions it does not get${former.grants.data ? ', and finds its /data' : ''}`,
    option: '--yes',
    pointer: '/id',
  }
}
