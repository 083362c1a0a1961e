import { PkgdError } from '../../daemon/core/errors.ts'
import type { Manifest } from './manifest.ts'
import { toPackageId } from './packageId.ts'
import { parseManifest } from './parseManifest.ts'
import { isPythonRange } from './pythonRange.ts'
import { toSemver } from './toSemver.ts'

/** What a PyPI distribution says of itself. */
export interface PypiDistribution {
  readonly name: string
  readonly version: string
  readonly summary?: string
  /** `Requires-Python`. */
  readonly requiresPython?: string
  /** Script name to entry point, `module:function`, as in `entry_points.txt`. */
  readonly consoleScripts: Readonly<Record<string, string>>
}

const normal = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-')

/** Which console script is the server: the sole one, or the one named as the package. Throws MANIFEST_MISSING where neither is. */
export function pickConsoleScript(
  name: string,
  scripts: Readonly<Record<string, string>>,
): { readonly name: string; readonly entryPoint: string } {
  const all = Object.entries(scripts).map(([script, entryPoint]) => ({ name: script, entryPoint }))
  const points = new Set(all.map((script) => script.entryPoint))
  const picked = all.find((script) => normal(script.name) === normal(name)) ?? (points.size === 1 ? all[0] : undefined)
  if (picked) return picked
  const why =
    all.length === 0
      ? 'it has no console script'
      : `it has several console scripts and none of its own name: ${all.map((script) => script.name).join(', ')}`
  throw new PkgdError('MANIFEST_MISSING', `${name} has no manifest, and none can be derived: ${why}`, {
    hint: 'put it in a folder with a manifest that names it in dependencies.packages',
  })
}

/** The manifest of a PyPI package, which has none of its own: an mcp-server over stdio that runs its console script, with the tightest sandbox. */
export function derivePypiManifest(distribution: PypiDistribution): Manifest {
  pickConsoleScript(distribution.name, distribution.consoleScripts)
  const id = toPackageId(normal(distribution.name))
  const version = toSemver(distribution.version)
  if (id === undefined || version === undefined) {
    const what = id === undefined ? 'name' : `version "${distribution.version}"`
    throw new PkgdError('MANIFEST_MISSING', `${distribution.name} has no manifest, and none can be derived: its ${what} is not usable`, {
      hint: 'put it in a folder with a manifest that names it in dependencies.packages',
    })
  }
  const { summary, requiresPython } = distribution
  return parseManifest({
    id,
    name: distribution.name,
    version,
    ...(summary?.trim() && { description: summary.trim().slice(0, 4096) }),
    type: 'mcp-server',
    mcp: { transport: 'stdio', command: 'python', args: ['/app/.pkgd/run.py'] },
    ...(requiresPython !== undefined && isPythonRange(requiresPython) && { dependencies: { python: requiresPython } }),
  })
}
