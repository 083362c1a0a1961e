import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findCoded, hasCode, type Issue, PkgdError } from '../../daemon/core/errors.ts'
import { deriveNpmManifest } from './deriveNpmManifest.ts'
import { findRepeatedKeys } from './findRepeatedKeys.ts'
import { demandFolder } from './localSource.ts'
import type { Manifest, ManifestOrigin } from './manifest.ts'
import { npmFields } from './npmFields.ts'
import { toPackageId } from './packageId.ts'
import { parseManifest, toManifestError } from './parseManifest.ts'
import { isRecord, recordOf, type UnknownRecord } from './record.ts'
import { stripComments } from './stripComments.ts'
import { toManifest } from './toManifest.ts'
import { checkManifestFile } from './validateManifest.ts'

/** A manifest larger than this is not read. */
const largest = 1024 ** 2

export interface ReadManifest {
  readonly manifest: Manifest
  readonly origin: ManifestOrigin
  /** The document as it stands in package.json. */
  readonly raw: unknown
}

/**
 * The manifest of the package in a folder: its package.json in pkgd's own form (comments allowed), or the `pkgd` key of npm's, or one derived from npm's
 * where it is plainly an MCP server. `name` is what messages call the folder, where it is not its own. Errors: SOURCE_NOT_FOUND, MANIFEST_MISSING, MANIFEST_INVALID (every issue),
 * AMBIGUOUS_ECOSYSTEM.
 */
export async function readManifest(directory: string, name: string = directory): Promise<ReadManifest> {
  const text = await readText(directory, name)
  const place = name === directory ? join(directory, 'package.json') : `package.json in ${name}`
  const raw = parseJson(text, place)
  const repeated = findRepeatedKeys(toPlainJson(text)).filter((issue) => isOurs(raw, issue))
  if (repeated.length === 0) return interpretPackageJson(raw, place)
  throw toManifestError([...repeated, ...issuesOf(raw, place)], place)
}

/** npm's own keys are npm's business. */
const isOurs = (raw: unknown, { pointer }: Issue): boolean =>
  isRecord(raw) && (raw.pkgd === undefined ? isManifestForm(raw) : /^\/pkgd(\/|$)/.test(pointer))

function issuesOf(raw: unknown, place: string): readonly Issue[] {
  try {
    interpretPackageJson(raw, place)
    return []
  } catch (error) {
    const coded = findCoded(error)
    if (!coded) throw error
    return coded.issues
  }
}

/** The manifest in a package.json that was read already, as `readManifest` tells it. `place` names it in messages. */
export function interpretPackageJson(raw: unknown, place: string): ReadManifest {
  if (isRecord(raw) && raw.pkgd !== undefined) return { manifest: fromKey(raw, place), origin: 'package-json-key', raw }
  if (!isRecord(raw) || isManifestForm(raw)) return { manifest: parseManifest(raw, place), origin: 'file', raw }
  const dependencies = npmDependencies(raw)
  const derived = deriveNpmManifest(raw, { base: '' })
  return { manifest: { ...derived, dependencies: { ...derived.dependencies, npm: dependencies } }, origin: 'derived', raw }
}

/** npm's package.json has neither of these keys, and only two values of `type`. */
const isManifestForm = (document: UnknownRecord): boolean =>
  ['id', 'mcp', 'a2a', 'hook', 'sandbox'].some((key) => document[key] !== undefined) ||
  (document.type !== undefined && document.type !== 'module' && document.type !== 'commonjs')

/** The `pkgd` key: id, name, version, description and the like come from npm's fields where it has none, dependencies on npm packages are npm's own too. */
function fromKey(raw: UnknownRecord, place: string): Manifest {
  const fields = npmFields(raw)
  const id = fields.name === undefined ? undefined : toPackageId(fields.name)
  const checked = checkManifestFile(isRecord(raw.pkgd) ? { ...fields, ...(id !== undefined && { id }), ...raw.pkgd } : raw.pkgd)
  if (!('file' in checked)) {
    throw toManifestError(
      checked.issues.map((issue) => ({ ...issue, pointer: `/pkgd${issue.pointer}` })),
      place,
    )
  }
  const manifest = toManifest(checked.file)
  const listed = new Set(manifest.dependencies.npm)
  const npm = [...manifest.dependencies.npm, ...npmDependencies(raw).filter((spec) => !listed.has(spec))]
  return { ...manifest, dependencies: { ...manifest.dependencies, npm } }
}

function npmDependencies(packageJson: UnknownRecord): string[] {
  const all = { ...recordOf(packageJson.optionalDependencies), ...recordOf(packageJson.dependencies) }
  return Object.entries(all)
    .map(([name, range]) => `${name}@${typeof range === 'string' ? range : '*'}`)
    .sort()
}

async function readText(directory: string, name: string): Promise<string> {
  const path = join(directory, 'package.json')
  await demandFolder(directory)
  try {
    if ((await stat(path)).size > largest)
      throw new PkgdError('MANIFEST_INVALID', `The package.json of ${name} is larger than 1 MB`, { hint: 'a manifest is a short file' })
    return await readFile(path, 'utf8')
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EISDIR')) throw error
    throw await missing(directory, name, error)
  }
}

/** An archive with more than one folder at its top is easily made: what is there is said. */
async function missing(directory: string, name: string, cause: unknown): Promise<PkgdError> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
  const holds =
    names.length === 0 ? 'nothing at all' : `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`
  const message = name === directory ? `${directory} has no package.json` : `${name} has no package.json at its top, where it has ${holds}`
  return new PkgdError('MANIFEST_MISSING', message, { hint: await hintOfMissing(directory, name), cause })
}

async function hintOfMissing(directory: string, name: string): Promise<string> {
  const legacy = await stat(join(directory, 'plugin.json')).then(
    (file) => file.isFile(),
    () => false,
  )
  if (name !== directory)
    return legacy ? 'it has a plugin.json: unpack it and run pkg migrate' : 'pack the folder that has the package.json'
  return legacy ? `it has a plugin.json: run pkg migrate ${directory}` : `write one, or run: pkg init ${directory}`
}

const toPlainJson = (text: string): string => stripComments(text.replace(/^\uFEFF/, ''))

/** The JSON in a text; comments and a byte order mark are allowed. Throws MANIFEST_INVALID with line and column. */
export function parseJson(text: string, place: string): unknown {
  const plain = toPlainJson(text)
  try {
    return JSON.parse(plain)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const position = /position (\d+)/.exec(reason)?.[1]
    const before = plain.slice(0, position === undefined ? plain.length : Number(position)).split('\n')
    const where = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
    const message = `${place} is not JSON: ${reason.replace(/ \(line \d+ column \d+\)/, '')} (${where})`
    throw new PkgdError('MANIFEST_INVALID', message, {
      hint: `look at ${where}`,
      issues: [{ pointer: '', message: `not JSON at ${where}`, rule: 'json', fix: 'correct the syntax' }],
      cause: error,
    })
  }
}
