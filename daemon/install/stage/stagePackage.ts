import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pickNpmRegistry, toNpmOptions } from '../../../registry/fetch/npm/npmConfig.ts'
import { parseConsoleScripts } from '../../../registry/fetch/pypi/readDistribution.ts'
import { normalizeProjectName } from '../../../registry/fetch/pypi/wheel.ts'
import { pickConsoleScript } from '../../../registry/manifest/derivePypiManifest.ts'
import { removeTree } from '../../../registry/store/removeTree.ts'
import { PkgdError } from '../../core/errors.ts'
import type { OperationContext } from '../../core/ports.ts'
import type { InstallEffect, InstallSaga } from '../commit/installEffects.ts'
import { isReachable } from '../dependencies/isReachable.ts'
import { installNpm } from '../dependencies/npm/installNpm.ts'
import { parseDistributionName } from '../dependencies/pypi/parseDistributionName.ts'
import { toRunPy } from '../dependencies/pypi/toRunPy.ts'
import type { InstallerParts } from '../installerDeps.ts'
import type { PackagePlan } from '../plan/packagePlan.ts'
import { installPython } from './installPython.ts'
import { fromLocked, toLocked } from './lockedDependencies.ts'

export interface StagedTree {
  readonly tree: string
  /** For the lockfile: `npm:name@version` or `pypi:name@version` to SRI. */
  readonly dependencies: Readonly<Record<string, string>>
}

/** Makes one package's tree, its files and its dependencies, and puts it into the store. What it leaves at a failure or a death is in the journal. */
export async function stagePackage(
  parts: InstallerParts,
  plan: PackagePlan,
  saga: InstallSaga,
  context: OperationContext,
): Promise<StagedTree> {
  const { home, store } = parts
  const { id } = plan.planned.manifest
  await mkdir(home.tmp, { recursive: true, mode: 0o700 })
  const scratch = await mkdtemp(join(home.tmp, 'install-'))
  const staging = await store.stage()
  const paths: InstallEffect[] = [scratch, staging.directory].map((path) => ({ kind: 'path', path }))
  try {
    return await saga.step(`stage ${id}`, paths, async () => {
      const dependencies = await fill(parts, plan, { directory: staging.directory, scratch }, context)
      context.progress({ stage: 'store', message: id })
      const { digest } = await staging.commit()
      saga.note(`store ${id}`, { kind: 'tree', digest })
      return { tree: digest, dependencies }
    })
  } finally {
    await staging.discard()
    await removeTree(scratch)
  }
}

async function fill(
  parts: InstallerParts,
  plan: PackagePlan,
  into: { readonly directory: string; readonly scratch: string },
  context: OperationContext,
): Promise<Record<string, string>> {
  const { manifest, resolution, layout } = plan.planned
  const { id } = manifest
  const { directory } = into
  const locked = plan.locked && fromLocked(plan.locked.dependencies)
  const npm = [...manifest.dependencies.npm]
  const pypi = [...manifest.dependencies.pypi]
  if (layout === 'files') {
    context.progress({ stage: 'fetch', message: id })
    await parts.fetchInto(resolution, directory, context)
    // Both are the installer's to make.
    await rm(join(directory, '.pkgd'), { recursive: true, force: true })
    if (npm.length > 0) await rm(join(directory, 'node_modules'), { recursive: true, force: true })
  } else if (layout === 'npm-project' && resolution.kind === 'npm') npm.unshift(`${resolution.name}@${resolution.version}`)
  else if (layout === 'pypi-project' && resolution.kind === 'pypi') pypi.unshift(`${resolution.name}==${resolution.version}`)
  else throw new PkgdError('INTERNAL', `A ${resolution.kind} resolution cannot have the layout ${layout}`)

  const installed: { npm: Record<string, string>; pypi: Record<string, string> } = { npm: {}, pypi: {} }
  if (npm.length > 0) {
    const scratch = join(into.scratch, 'npm')
    await mkdir(scratch)
    const deps = {
      cache: join(parts.home.cache, 'npm'),
      allowSources: parts.config().install.allowSources,
      readOptions: async () => toNpmOptions(await parts.remote.readNpmConfig()),
      isReachable: async (name: string, signal: AbortSignal) => {
        const config = await parts.remote.readNpmConfig()
        return isReachable(parts.remote.client(config.network), new URL('-/ping', pickNpmRegistry(config, name)).href, signal)
      },
    }
    const install = {
      packageId: id,
      specs: npm,
      locked: locked?.npm ?? null,
      scratch,
      target: directory,
      keepProject: layout === 'npm-project',
    }
    installed.npm = await installNpm(deps, install, context)
    if (layout === 'npm-project' && resolution.kind === 'npm') checkOwn(installed.npm, resolution)
  }
  if (pypi.length > 0) {
    await mkdir(join(directory, '.pkgd'), { recursive: true })
    const target = join(directory, '.pkgd', 'python')
    installed.pypi = await installPython(
      parts,
      plan,
      { requirements: pypi, locked: locked?.pypi ?? null, scratch: into.scratch, target },
      context,
    )
    if (layout === 'pypi-project' && resolution.kind === 'pypi') await writeRunner(directory, resolution.name)
  }
  return toLocked(installed)
}

/** The package itself must be the very archive that was looked up. */
function checkOwn(installed: Readonly<Record<string, string>>, resolution: { name: string; version: string; integrity: string }): void {
  const found = installed[`${resolution.name}@${resolution.version}`]
  if (found === undefined || found === resolution.integrity) return
  const same = found.split(/\s+/).some((hash) => resolution.integrity.split(/\s+/).includes(hash))
  if (!same) {
    throw new PkgdError('INTEGRITY_MISMATCH', `${resolution.name}@${resolution.version} has ${found} and not ${resolution.integrity}`, {
      hint: 'do not use it before you know why',
    })
  }
}

/** Writes `.pkgd/run.py`, which runs the project's console script. */
async function writeRunner(directory: string, project: string): Promise<void> {
  const python = join(directory, '.pkgd', 'python')
  const info = (await readdir(python)).find((name) => {
    const own = /^(.+)\.dist-info$/.exec(name)?.[1]
    return own !== undefined && parseDistributionName(`${own}.tar.gz`)?.name === normalizeProjectName(project)
  })
  const text = info === undefined ? '' : await readFile(join(python, info, 'entry_points.txt'), 'utf8')
  await writeFile(join(directory, '.pkgd', 'run.py'), toRunPy(pickConsoleScript(project, parseConsoleScripts(text))))
}
