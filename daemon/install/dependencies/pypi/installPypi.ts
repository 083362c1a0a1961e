import { copyFile, lchown, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BuildResult, PreparedImage, SandboxDriver } from '../../../../sandbox/sandboxDriver.ts'
import { PkgdError } from '../../../core/errors.ts'
import type { Logger, OperationContext } from '../../../core/ports.ts'
import type { Limits } from '../../../core/types.ts'
import { discoverFileHosts, type ListFiles } from './discoverFileHosts.ts'
import { toIndexReach } from './indexReach.ts'
import { type PipConfig, toPipFile } from './pipConfig.ts'
import { boxPaths, type PipMode, toLockedRequirements, toPipScript } from './pipScript.ts'
import { satisfiesIntegrity } from './satisfiesIntegrity.ts'
import { isIndexUnreachable, toPipError } from './toPipError.ts'
import { listArchives, toSolutionKey, type Wheelhouse } from './wheelhouse.ts'

export interface PypiInstall {
  readonly packageId: string
  readonly version: string
  /** Requirement strings that were validated. */
  readonly requirements: readonly string[]
  readonly locked: Readonly<Record<string, string>> | null
  /** A known archive (its URL and SRI) that must be what is installed, if its file is. */
  readonly expected: { readonly url: string; readonly integrity: string } | null
  readonly image: PreparedImage
  /** An empty directory on the same disk as `target`. */
  readonly scratch: string
  /** The directory that the packages become. Must not exist. */
  readonly target: string
}

export interface PypiDeps {
  readonly driver: Pick<SandboxDriver, 'runToEnd'>
  readonly daemonId: string
  /** The user that builds run as; no package has it. */
  readonly uid: number
  readonly limits: Limits
  readonly sdist: boolean
  /** pip's HTTP cache. */
  readonly cache: string
  readonly wheelhouse: Wheelhouse
  readonly readConfig: () => Promise<PipConfig>
  readonly listFiles: ListFiles
  /** Whether an index answers. */
  readonly isReachable: (config: PipConfig, signal: AbortSignal) => Promise<boolean>
  readonly logger: Logger
}

/** A solution younger than this is taken as it is: an index's own pages are cached as long. */
const freshMs = 10 * 60_000

/**
 * Installs PyPI packages with pip, in a sandbox that reaches the indexes and nothing else, and resolves with what was locked. An index out of reach is no
 * failure where the same requirements were solved before. Errors: DEPENDENCY_SOURCE, DEPENDENCY_UNSOLVABLE, DEPENDENCY_INSTALL_FAILED,
 * DEPENDENCY_NOT_BUILT, REGISTRY_UNREACHABLE, INTEGRITY_MISMATCH, LOCKFILE_OUTDATED, DISK_FULL and the driver's.
 */
export async function installPypi(deps: PypiDeps, install: PypiInstall, context: OperationContext): Promise<Record<string, string>> {
  const { packageId, locked, scratch } = install
  const requirements = locked ? toLockedRequirements(locked) : `${[...install.requirements].sort().join('\n')}\n`
  const keyOf = (text: string) => toSolutionKey(text, install.image.runtimes.python ?? '', deps.sdist)
  const key = keyOf(requirements)
  const kept = await deps.wheelhouse.find(key)
  const attempt = async (mode: PipMode) => {
    const out = join(scratch, mode)
    await mkdir(out, { recursive: true })
    await writeFile(join(out, 'requirements.txt'), requirements)
    return { out, result: await runPip(deps, install, { mode, out, wheels: kept?.directory ?? null }, context) }
  }
  context.progress({ stage: 'dependencies', message: `${packageId}: pip` })
  const usable = kept && (locked !== null || kept.ageMs < freshMs || !(await deps.isReachable(await deps.readConfig(), context.signal)))
  let mode: PipMode = usable ? 'kept' : locked ? 'locked' : 'solve'
  let { out, result } = await attempt(mode)
  if (!succeeded(result) && mode !== 'kept' && kept && isIndexUnreachable(result.output)) {
    mode = 'kept'
    ;({ out, result } = await attempt(mode))
  }
  if (!succeeded(result)) throw toPipError(result, packageId, { locked: locked !== null, sdist: deps.sdist })

  const wheels = mode === 'kept' && kept ? kept.directory : join(out, 'wheels')
  if (mode !== 'kept') await takeOver(wheels)
  const archives = await listArchives(wheels)
  if (install.expected) checkExpected(install.expected, archives, packageId)
  const solved = Object.fromEntries(archives.map((archive) => [archive.key, archive.integrity]))
  if (mode !== 'kept') await deps.wheelhouse.keep(keyOf(toLockedRequirements(solved)), key, wheels)
  await takeOver(join(out, 'target'))
  await rename(join(out, 'target'), install.target)
  return solved
}

async function runPip(
  deps: PypiDeps,
  install: PypiInstall,
  box: { readonly mode: PipMode; readonly out: string; readonly wheels: string | null },
  context: OperationContext,
): Promise<BuildResult> {
  const config = await deps.readConfig()
  const cert = config.cert ? `${boxPaths.out}/ca.pem` : null
  if (config.cert) await copyFile(config.cert, join(box.out, 'ca.pem'))
  await writeFile(join(box.out, 'pip.conf'), toPipFile(config, { cert }))
  await mkdir(deps.cache, { recursive: true })
  const kept = box.mode === 'kept'
  const links = kept ? [] : await discoverFileHosts(deps, config, install.requirements, context)
  return deps.driver.runToEnd(
    {
      identity: { daemon: deps.daemonId, packageId: install.packageId, version: install.version, spec: 'dependencies' },
      image: install.image,
      command: ['/bin/sh', '-c', toPipScript(box.mode, { sdist: deps.sdist })],
      env: { PIP_CONFIG_FILE: `${boxPaths.out}/pip.conf`, ...(cert && { SSL_CERT_FILE: cert, REQUESTS_CA_BUNDLE: cert }) },
      uid: deps.uid,
      limits: deps.limits,
      mounts: [
        { source: box.out, target: boxPaths.out, readOnly: false },
        ...(kept && box.wheels ? [{ source: box.wheels, target: boxPaths.wheels, readOnly: true }] : []),
        ...(kept || deps.sdist ? [] : [{ source: deps.cache, target: boxPaths.cache, readOnly: false }]),
      ],
      reach: kept ? [] : toIndexReach(config, links),
    },
    context,
  )
}

const succeeded = (result: BuildResult): boolean => result.exit.kind === 'exit' && result.exit.code === 0

function checkExpected(
  expected: { url: string; integrity: string },
  archives: readonly { file: string; integrity: string }[],
  packageId: string,
): void {
  const file = decodeURIComponent(basename(new URL(expected.url).pathname))
  const found = archives.find((archive) => archive.file === file)
  if (!found || satisfiesIntegrity(found.integrity, expected.integrity)) return
  throw new PkgdError(
    'INTEGRITY_MISMATCH',
    `${file}, which ${packageId} is made of, has ${found.integrity} and not ${expected.integrity}`,
    {
      hint: 'do not use it before you know why',
    },
  )
}

/** Gives what a build wrote to the daemon's own user. Links are taken themselves, never what they point to. */
async function takeOver(directory: string): Promise<void> {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()]
  if (uid !== 0 || gid === undefined) return
  await lchown(directory, uid, gid)
  for (const entry of await readdir(directory, { recursive: true })) await lchown(join(directory, entry), uid, gid)
}
