import type { ValidateFunction } from 'ajv/dist/2020.js'
import semver from 'semver'
import type { Issue } from '../../daemon/core/errors.ts'
import { checkManifest } from './checkManifest.ts'
import { loadAjv2020 } from './loadAjv.ts'
import type { ManifestFile } from './manifestFile.ts'
import { manifestSchema } from './manifestSchema.ts'
import { checkMountTarget } from './mountTarget.ts'
import { parseHostPort } from './parseHostPort.ts'
import { leastMemory, parseSize } from './parseSize.ts'
import { isPythonRange } from './pythonRange.ts'
import { isRecord } from './record.ts'
import { toIssue } from './toIssue.ts'

let compiled: ValidateFunction<ManifestFile> | undefined

/** Compiled at first use: a command that validates nothing does not pay for it. */
function schemaValidator(): ValidateFunction<ManifestFile> {
  if (compiled) return compiled
  const ajv = new (loadAjv2020())({ strict: true, allErrors: true, verbose: true, allowUnionTypes: true })
  ajv.addFormat('semver', { type: 'string', validate: (text) => semver.valid(text) !== null })
  ajv.addFormat('semver-range', { type: 'string', validate: (text) => semver.validRange(text) !== null })
  ajv.addFormat('python-range', { type: 'string', validate: isPythonRange })
  ajv.addFormat('host-port', { type: 'string', validate: (text) => parseHostPort(text) !== undefined })
  ajv.addFormat('mount-target', { type: 'string', validate: (text) => checkMountTarget(text) === undefined })
  ajv.addFormat('size', { type: 'string', validate: (text) => (parseSize(text) ?? 0) > 0 })
  ajv.addFormat('memory', { type: 'string', validate: (text) => (parseSize(text) ?? 0) >= leastMemory })
  compiled = ajv.compile<ManifestFile>(manifestSchema)
  return compiled
}

/** Whether the document is a manifest; what speaks against it is in `issues`, in the document's order of pointers. */
export function checkManifestFile(
  document: unknown,
): { readonly file: ManifestFile; readonly issues: readonly [] } | { readonly issues: readonly Issue[] } {
  const validate = schemaValidator()
  const valid = validate(document)
  const issues = [
    ...(validate.errors ?? []).flatMap((error) => toIssue(error) ?? []),
    ...(isRecord(document) ? checkManifest(document) : []),
  ]
  if (valid && issues.length === 0) return { file: document, issues: [] }
  return { issues: unique(issues) }
}

/** Every problem of a manifest at once; none when it is valid. */
export const validateManifest = (document: unknown): Issue[] => [...checkManifestFile(document).issues]

/** One issue for each place and rule, sorted by pointer. A value that breaks its pattern is not told again that it breaks its format. */
function unique(issues: readonly Issue[]): Issue[] {
  const scalar = new Set(['pattern', 'format', 'size', 'memory', 'semver', 'semver-range', 'python-range', 'host-port', 'mount-target'])
  const seen = new Set<string>()
  return issues
    .filter((issue) => {
      const key = `${issue.pointer} ${scalar.has(issue.rule ?? '') ? 'form' : `${issue.rule} ${issue.message}`}`
      return !seen.has(key) && seen.add(key)
    })
    .sort((a, b) => (a.pointer < b.pointer ? -1 : a.pointer > b.pointer ? 1 : 0))
}
