import type { Remote } from '../fetch/createRemote.ts'
import type { PypiIndex } from '../fetch/pypi/pypiIndex.ts'
import type { ArchiveLimits } from '../store/archiveLimits.ts'
import type { RegistrySource } from './registrySource.ts'

export interface ResolverDeps {
  readonly remote: Remote
  readonly pypi: PypiIndex
  readonly limits: ArchiveLimits
  /** Where ids are looked up, in order; read at each use. */
  readonly registries: () => readonly RegistrySource[]
  /** Scratch space. */
  readonly tmp: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The minor version of the Python that packages run on (11 for 3.11), or null where that is not known yet. */
  readonly pythonMinor: () => Promise<number | null>
}
