import type { OperationContext } from '../../daemon/core/ports.ts'
import type { Resolution } from '../resolve/resolution.ts'

/** Bytes brought to this disk. */
export interface Fetched {
  /** SRI of what was received (of the archive where there is one), computed while streaming. */
  readonly integrity: string | null
}

/**
 * Brings a resolution's package files into `directory`, which exists and is empty: archives through the store's hardened extraction, integrity checked
 * while streaming and again at unpack. Errors: INTEGRITY_MISMATCH, ARCHIVE_UNSAFE, ARCHIVE_TOO_LARGE, ARCHIVE_DAMAGED, REGISTRY_UNREACHABLE, SOURCE_NOT_FOUND, DISK_FULL.
 */
export type FetchInto = (resolution: Resolution, directory: string, context: OperationContext) => Promise<Fetched>
