import semver from 'semver'
import { PkgdError } from '../../daemon/core/errors.ts'
import type { Manifest } from './manifest.ts'
import { npmFields } from './npmFields.ts'
import { toPackageId } from './packageId.ts'
import { parseManifest } from './parseManifest.ts'
import { recordOf } from './record.ts'

export interface DeriveNpmOptions {
  /** Where the package's own files are below /app: `''` when they are /app itself. By default a generated project's `node_modules/<name>`. */
  readonly base?: string
}

/**
 * The manifest of an npm package that has none of its own and is plainly a program (`bin`) or an MCP server (`mcpName`): an mcp-server over stdio with
 * the tightest sandbox. Its own npm dependencies are not listed: they come with it. Throws MANIFEST_MISSING where there is nothing to run.
 */
export function deriveNpmManifest(packageJson: unknown, options: DeriveNpmOptions = {}): Manifest {
  const fields = npmFields(packageJson)
  const id = fields.name === undefined ? undefined : toPackageId(fields.name)
  if (fields.name === undefined || id === undefined || semver.valid(fields.version ?? null) === null) {
    throw new PkgdError(
      'MANIFEST_MISSING',
      `${fields.name ?? 'The package'} has no manifest, and none can be derived: its name or version is not usable`,
      {
        hint: 'add a "pkgd" key to its package.json with an "id"',
      },
    )
  }
  const program = pickNpmProgram(packageJson)
  const base = options.base ?? `node_modules/${fields.name}`
  const node = recordOf(recordOf(packageJson).engines).node
  return parseManifest({
    ...fields,
    id,
    name: fields.name,
    type: 'mcp-server',
    mcp: { transport: 'stdio', command: 'node', args: [base === '' ? program : `${base}/${program}`] },
    dependencies: { ...(typeof node === 'string' && semver.validRange(node) !== null && node.trim() !== '' && { node }) },
  })
}

/** The file to run, relative to the package: its sole bin, or the one named as the package; with `mcpName` and no bin, its `main`. */
export function pickNpmProgram(packageJson: unknown): string {
  const { name, bin, mcpName, main } = recordOf(packageJson)
  const own = String(name).split('/').at(-1) ?? ''
  const bins = typeof bin === 'string' ? { [own]: bin } : recordOf(bin)
  const programs = Object.entries(bins).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const files = new Set(programs.map(([, file]) => plainPath(file)))
  const [sole] = files
  if (files.size === 1 && sole !== undefined) return sole
  const named = programs.find(([program]) => program === own)
  if (named) return plainPath(named[1])
  if (programs.length > 0) {
    throw new PkgdError(
      'MANIFEST_MISSING',
      `${String(name)} has several programs and none of its own name: ${programs.map(([program]) => program).join(', ')}`,
      {
        hint: 'add a "pkgd" key to its package.json that says which one is the server',
      },
    )
  }
  if (typeof mcpName === 'string' && typeof main === 'string') return plainPath(main)
  throw new PkgdError(
    'MANIFEST_MISSING',
    `${String(name)} has no manifest and is not plainly an MCP server: it has neither "bin" nor "mcpName"`,
    {
      hint: 'add a "pkgd" key to its package.json, or run: pkg init',
    },
  )
}

function plainPath(file: string): string {
  const path = file.replaceAll('\\', '/').replace(/^(\.?\/)+/, '')
  if (path === '' || path.split('/').includes('..')) {
    throw new PkgdError('MANIFEST_INVALID', `The program "${file}" is outside of its package`, {
      hint: 'name a file of the package in "bin"',
    })
  }
  return path
}
