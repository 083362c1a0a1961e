import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createPypiIndex } from '../../../registry/fetch/pypi/pypiIndex.ts'
import type { OperationContext } from '../../core/ports.ts'
import type { Limits } from '../../core/types.ts'
import { isReachable } from '../dependencies/isReachable.ts'
import type { ListFiles } from '../dependencies/pypi/discoverFileHosts.ts'
import { installPypi } from '../dependencies/pypi/installPypi.ts'
import { readPipConfig } from '../dependencies/pypi/readPipConfig.ts'
import { createWheelhouse } from '../dependencies/pypi/wheelhouse.ts'
import type { InstallerParts } from '../installerDeps.ts'
import type { PackagePlan } from '../plan/packagePlan.ts'

/** No package's id begins with a dot, so that the builder's user is nobody's. */
const builder = '.build'

/** Installs a package's PyPI dependencies in the build sandbox, on the package's own image or the Python runtime. */
export async function installPython(
  parts: InstallerParts,
  plan: PackagePlan,
  into: {
    readonly requirements: readonly string[]
    readonly locked: Readonly<Record<string, string>> | null
    readonly scratch: string
    readonly target: string
  },
  context: OperationContext,
): Promise<Record<string, string>> {
  const { driver, state, home, clock, logger } = parts
  const config = parts.config()
  const { manifest, resolution } = plan.planned
  const own = 'reference' in plan.image.request || plan.image.request.runtime === 'python'
  const image = own ? plan.image : await driver.prepareImage({ runtime: 'python' }, context)
  const scratch = join(into.scratch, 'pypi')
  await mkdir(scratch)
  const listFiles: ListFiles = (pip, indexUrl, project, within) =>
    createPypiIndex({
      readSources: async () => ({ ...pip, indexUrl, extraIndexUrls: [] }),
      client: parts.remote.client,
      cache: parts.remote.metadata,
    }).files(project, within)
  return installPypi(
    {
      driver,
      daemonId: state.daemonId,
      uid: state.packages.allocateUid(builder, config.firstUid),
      limits: toBuildLimits(config.limits.max),
      sdist: config.install.sdist,
      cache: join(home.cache, 'pip'),
      wheelhouse: createWheelhouse({ directory: join(home.cache, 'wheels'), now: () => clock.now() }),
      readConfig: () => readPipConfig(parts.env),
      listFiles,
      isReachable: ({ indexUrl, cert, proxy }, signal) =>
        isReachable(parts.remote.client({ caFile: cert, proxy }), new URL('/', indexUrl).href, signal),
      logger,
    },
    {
      packageId: manifest.id,
      version: manifest.version,
      requirements: into.requirements,
      locked: into.locked,
      expected: resolution.kind === 'pypi' ? resolution : null,
      image,
      scratch,
      target: into.target,
    },
    context,
  )
}

/** A build is short: it may use what the operator lets a package use, within reason. */
const toBuildLimits = (max: Limits): Limits => ({
  memoryBytes: Math.min(max.memoryBytes, 1024 ** 3),
  cpus: max.cpus,
  pids: Math.min(max.pids, 512),
  tmpBytes: Math.min(max.tmpBytes, 64 * 1024 ** 2),
})
