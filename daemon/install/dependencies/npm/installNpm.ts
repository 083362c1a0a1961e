import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PkgdError } from '../../../core/errors.ts'
import type { OperationContext } from '../../../core/ports.ts'
import { runNpmWorker } from './runNpmWorker.ts'
import { isUnreachable, toNpmError } from './toNpmError.ts'
import { toProject } from './toProject.ts'

export interface NpmInstall {
  readonly packageId: string
  /** `name@range` each. */
  readonly specs: readonly string[]
  readonly locked: Readonly<Record<string, string>> | null
  /** An empty directory on the same disk as `target`. */
  readonly scratch: string
  /** Where node_modules is put; with `keepProject` the generated package.json too. */
  readonly target: string
  readonly keepProject: boolean
}

export interface NpmDeps {
  readonly cache: string
  readonly allowSources: readonly string[]
  /** Options of npm's libraries from the user's npm configuration. */
  readonly readOptions: () => Promise<Readonly<Record<string, unknown>>>
  /** Whether the registry of a package answers. */
  readonly isReachable: (name: string, signal: AbortSignal) => Promise<boolean>
}

/**
 * Installs npm packages from a generated project and resolves with what was locked. A registry out of reach is no failure where the cache has it all.
 * Errors: DEPENDENCY_SOURCE, DEPENDENCY_UNSOLVABLE, DEPENDENCY_INSTALL_FAILED, DEPENDENCY_NOT_BUILT, REGISTRY_UNREACHABLE, INTEGRITY_MISMATCH, LOCKFILE_OUTDATED, DISK_FULL.
 */
export async function installNpm(deps: NpmDeps, install: NpmInstall, context: OperationContext): Promise<Record<string, string>> {
  const { packageId, scratch, target, locked } = install
  const generated = toProject(install.specs)
  const project = `${JSON.stringify(generated, null, 2)}\n`
  const options = await deps.readOptions()
  const attempt = async (offline: boolean) => {
    const directory = join(scratch, offline ? 'offline' : 'online')
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'package.json'), project)
    const request = { directory, options, cache: deps.cache, locked, allowSources: deps.allowSources, offline }
    const outcome = await runNpmWorker(request, {
      signal: context.signal,
      onStage: ({ stage, packages }) =>
        context.progress({
          stage: 'dependencies',
          message: stage === 'solve' ? `${packageId}: solving npm` : `${packageId}: ${packages} npm packages`,
        }),
    })
    return { directory, outcome }
  }
  // Exact versions are looked for in the cache first anyway.
  const [first = ''] = Object.keys(generated.dependencies)
  const away = locked === null && !(await deps.isReachable(first, context.signal))
  let { directory, outcome } = await attempt(away)
  if (outcome.kind === 'failed' && isUnreachable(outcome)) {
    const second = await attempt(!away)
    // Of two failures the one of the registry says more than the one of the cache.
    if (away || second.outcome.kind === 'done') ({ directory, outcome } = second)
  }
  if (outcome.kind === 'failed') throw toNpmError(outcome, packageId, locked !== null)
  const unbuilt = outcome.unbuilt[0]
  if (unbuilt) {
    throw new PkgdError(
      'DEPENDENCY_NOT_BUILT',
      `${unbuilt.name}@${unbuilt.version}, which ${packageId} needs, was not built: ${unbuilt.reason}`,
      {
        hint: 'use a version with prebuilt binaries for Linux; pkgd runs no install scripts',
        issues: outcome.unbuilt.map((one) => ({ pointer: '', message: `${one.name}@${one.version}: ${one.reason}`, rule: 'native-build' })),
      },
    )
  }
  await rename(join(directory, 'node_modules'), join(target, 'node_modules'))
  if (install.keepProject) await rename(join(directory, 'package.json'), join(target, 'package.json'))
  return Object.fromEntries(
    outcome.packages
      .flatMap(({ name, version, integrity }) => (integrity === null ? [] : [[`${name}@${version}`, integrity] as const]))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}
