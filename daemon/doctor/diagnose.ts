import { statfs } from 'node:fs/promises'
import { formatSize } from '../../registry/manifest/formatSize.ts'
import type { PackageStore } from '../../registry/store/packageStore.ts'
import type { ImageBuilder } from '../../sandbox/images/imageBuilder.ts'
import type { SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import type { Check, Doctor, Info } from '../api/schemas/info.ts'
import type { Config } from '../config/config.ts'
import { toPkgdError } from '../core/errors.ts'
import type { Home } from '../core/home.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { State } from '../store/state.ts'
import { describeDriver } from './describeDaemon.ts'

export interface DiagnoseDeps {
  readonly home: Home
  readonly state: Pick<State, 'restored'>
  readonly config: () => Config
  readonly driver: SandboxDriver
  readonly images: Pick<ImageBuilder, 'describe'>
  readonly store: Pick<PackageStore, 'verify'>
  readonly lifecycle: Pick<Lifecycle, 'list'>
}

/** Less than this and installs soon fail. */
const littleDisk = 1024 ** 3

function checkDriver({ name, state, reason, capabilities }: Info['driver']): Check {
  const title = 'sandbox driver'
  if (state === 'degraded' || !capabilities) {
    return {
      id: 'driver',
      title,
      status: 'error',
      detail: `${name}: ${reason}`,
      hint: name === 'docker' ? 'start the container engine; packages that run go on without it' : 'see the daemon’s log',
    }
  }
  const { version, stdio, notes } = capabilities
  const detail = `${name} ${version}, stdio through ${stdio}${notes.map((note) => `; ${note}`).join('')}`
  return { id: 'driver', title, status: notes.length > 0 ? 'warning' : 'ok', detail }
}

function checkLimits({ capabilities }: Info['driver'], { limits: { allowUnenforced } }: Config): Check {
  const lacking = Object.entries(capabilities?.unenforced ?? {})
  const title = 'limits'
  if (lacking.length === 0) {
    const detail =
      allowUnenforced.length > 0 ? `all are enforced; ${allowUnenforced.join(', ')} need not be, by pkgd.yaml` : 'all are enforced'
    return { id: 'limits', title, status: allowUnenforced.length > 0 ? 'warning' : 'ok', detail }
  }
  const refused = lacking.filter(([limit]) => !allowUnenforced.some((allowed) => allowed === limit))
  const detail = lacking.map(([limit, why]) => `${limit} is not enforced here: ${why}`).join('; ')
  if (refused.length === 0) return { id: 'limits', title, status: 'warning', detail: `${detail} (allowed by pkgd.yaml)` }
  const hint = `packages do not start; to run them without: limits.allow_unenforced: [${refused.map(([limit]) => limit).join(', ')}] in pkgd.yaml`
  return { id: 'limits', title, status: 'error', detail, hint }
}

function checkNetwork({ capabilities }: Info['driver']): Check {
  const refused = Object.entries(capabilities?.networkRefused ?? {})
  const detail = `enforced: ${capabilities?.network.join(', ') ?? 'unknown'}${refused.map(([mode, why]) => `; ${mode}: ${why}`).join('')}`
  return { id: 'network', title: 'network', status: refused.some(([mode]) => mode === 'internet') ? 'warning' : 'ok', detail }
}

async function checkImage(images: Pick<ImageBuilder, 'describe'>, runtime: 'node' | 'python'): Promise<Check> {
  const title = `runtime ${runtime}`
  try {
    const { runtimes } = await images.describe(runtime)
    const found = Object.entries(runtimes).map(([name, version]) => `${name} ${version}`)
    return { id: `runtime.${runtime}`, title, status: 'ok', detail: found.join(', ') || "the distribution's own" }
  } catch (error) {
    const { message, hint } = toPkgdError(error)
    return { id: `runtime.${runtime}`, title, status: 'warning', detail: message, ...(hint === undefined ? {} : { hint }) }
  }
}

async function checkDisk(home: Home): Promise<Check> {
  const { bavail, bsize } = await statfs(home.root)
  const free = bavail * bsize
  const check = { id: 'disk', title: 'disk', detail: `${formatSize(free)} free at ${home.root}` }
  return free < littleDisk ? { ...check, status: 'warning', hint: 'free some space' } : { ...check, status: 'ok' }
}

async function checkPackages({ store, lifecycle }: DiagnoseDeps): Promise<Check[]> {
  return Promise.all(
    lifecycle.list().map(async ({ record, status }): Promise<Check> => {
      const check = { id: `package.${record.id}`, title: record.id }
      const differences = await store.verify(record.tree, 'quick')
      const [first] = differences
      if (first) {
        const more = differences.length > 1 ? ` and ${differences.length - 1} more` : ''
        return {
          ...check,
          status: 'error',
          detail: `installed files differ: ${first.path} is ${first.problem}${more}`,
          hint: 'install it again',
        }
      }
      if (status.state === 'failed') {
        const detail = `failed${status.reason ? ` (${status.reason})` : ''}: ${status.lastError?.message ?? 'no reason is known'}`
        return { ...check, status: 'error', detail, hint: `pkg logs ${record.id}` }
      }
      return { ...check, status: status.health === 'unhealthy' ? 'warning' : 'ok', detail: `${record.version}, ${status.state}` }
    }),
  )
}

function checkState({ restored }: Pick<State, 'restored'>): Check {
  const title = 'state'
  if (!restored) return { id: 'state', title, status: 'ok', detail: 'the database is sound' }
  return {
    id: 'state',
    title,
    status: 'error',
    detail: 'a damaged database was set aside; sandboxes it knew are left alone',
    hint: 'put a backup back, or install again with "pkg install --frozen"; then "pkg doctor --repair" sweeps what is unknown',
  }
}

/** Every check, none of which stops the others. */
export async function diagnose(deps: DiagnoseDeps): Promise<Doctor> {
  const driver = await describeDriver(deps.driver)
  const checks = [
    checkDriver(driver),
    checkLimits(driver, deps.config()),
    checkNetwork(driver),
    ...(await Promise.all([checkImage(deps.images, 'node'), checkImage(deps.images, 'python')])),
    checkState(deps.state),
    await checkDisk(deps.home),
    ...(await checkPackages(deps)),
  ]
  const worst = (['error', 'warning'] as const).find((status) => checks.some((check) => check.status === status))
  return { status: worst ?? 'ok', checks }
}
