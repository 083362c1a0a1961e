import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

/** What is looked at of an installed npm package. */
export interface NativeSuspect {
  readonly directory: string
  readonly manifest: Readonly<Record<string, unknown>>
  /** Names of the packages that were installed for it, platform packages among them. */
  readonly installed: ReadonlySet<string>
}

const builders = /\b(node-gyp|node-pre-gyp|prebuild-install|prebuildify|node-gyp-build|cmake-js|cargo-cp-artifact|neon build|napi build)\b/

/** Why a package's native part is missing, or undefined when it needs none or has one. Nothing was run: scripts are off. */
export function findUnbuilt({ directory, manifest, installed }: NativeSuspect): string | undefined {
  const scripts = toRecord(manifest.scripts)
  const script = ['preinstall', 'install', 'postinstall']
    .map((name) => scripts[name])
    .find((text) => typeof text === 'string' && builders.test(text))
  const gyp = existsSync(join(directory, 'binding.gyp'))
  if (!gyp && script === undefined) return undefined
  if (globSync(['prebuilds/**/*.node', 'build/Release/*.node', 'lib/binding/**/*.node', '*.node'], { cwd: directory }).length > 0)
    return undefined
  // Packages that bring their binary as an optional one for each platform.
  if (Object.keys(toRecord(manifest.optionalDependencies)).some((name) => /linux/.test(name) && installed.has(name))) return undefined
  return script === undefined
    ? 'it has a binding.gyp and no prebuilt binary'
    : `its install script ("${script}") was not run and it has no prebuilt binary`
}

const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
