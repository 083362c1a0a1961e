import { type Issue, PkgdError } from '../../daemon/core/errors.ts'
import { ambiguousRule } from './checkManifest.ts'
import type { Manifest } from './manifest.ts'
import { isRecord } from './record.ts'
import { toManifest } from './toManifest.ts'
import { checkManifestFile } from './validateManifest.ts'

/**
 * The manifest in a document, with every default filled in. `place` names the document in messages (`./weather/package.json`).
 * Throws MANIFEST_INVALID with every issue, or AMBIGUOUS_ECOSYSTEM where that is all there is to say.
 */
export function parseManifest(document: unknown, place?: string): Manifest {
  const checked = checkManifestFile(document)
  if ('file' in checked) return toManifest(checked.file)
  throw toManifestError(checked.issues, place ?? nameOf(document))
}

const nameOf = (document: unknown): string =>
  isRecord(document) && typeof document.id === 'string' ? `The manifest of "${document.id}"` : 'The manifest'

/** The error for a manifest's issues, of which there is at least one. */
export function toManifestError(issues: readonly Issue[], place: string): PkgdError {
  const [first] = issues
  const ambiguous = issues.every((issue) => issue.rule === ambiguousRule)
  const count = issues.length === 1 ? '' : ` (and ${issues.length - 1} more)`
  const message = first ? `${place}: ${first.pointer || '(document)'}: ${first.message}${count}` : `${place} is invalid`
  return new PkgdError(ambiguous && first ? 'AMBIGUOUS_ECOSYSTEM' : 'MANIFEST_INVALID', message, {
    issues,
    ...(first?.fix !== undefined && { hint: first.fix }),
  })
}
