import type { PackageStore } from '../../registry/store/packageStore.ts'
import type { SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import type { Check } from '../api/schemas/info.ts'
import { toPkgdError } from '../core/errors.ts'
import type { Lifecycle, PackageView } from '../lifecycle/lifecycle.ts'

/** Each installed package: its files, and how it is. */
export function checkPackages(deps: {
  readonly store: Pick<PackageStore, 'verify'>
  readonly lifecycle: Pick<Lifecycle, 'list'>
}): Promise<Check[]> {
  return Promise.all(
    deps.lifecycle.list().map(async (view): Promise<Check> => {
      const { record } = view
      const check = { id: `package.${record.id}`, title: `package ${record.id}` }
      const damage = await describeDamage(deps.store, record.tree)
      if (damage !== null) return { ...check, status: 'error', detail: damage, hint: 'install it again' }
      return { ...check, ...describe(view) }
    }),
  )
}

async function describeDamage(store: Pick<PackageStore, 'verify'>, tree: string): Promise<string | null> {
  try {
    const [first, ...more] = await store.verify(tree, 'quick')
    if (!first) return null
    return `installed files differ: ${first.path} is ${first.problem}${more.length > 0 ? ` and ${more.length} more` : ''}`
  } catch (error) {
    return `installed files cannot be checked: ${toPkgdError(error).message}`
  }
}

function describe({ record, status }: PackageView): Pick<Check, 'status' | 'detail' | 'hint'> {
  const { state, health, reason, lastError } = status
  const now = `${record.version}, ${state}${reason ? ` (${reason})` : ''}`
  const why = lastError ? `: ${lastError.message}` : ''
  const hint = `pkg logs ${record.id} has what it said`
  if (state === 'failed') return { status: 'error', detail: `${now}${why}`, hint: lastError?.hint ?? hint }
  if (state === 'backoff') return { status: 'warning', detail: `${now}, to be started again${why}`, hint }
  if (state === 'running' && health === 'unhealthy') return { status: 'warning', detail: `${now} but unhealthy${why}`, hint }
  return { status: 'ok', detail: now }
}

/** Data that uninstalls kept; nothing is wrong with it, but nobody else would tell. None: no line. */
export async function checkKeptData(deps: {
  readonly driver: Pick<SandboxDriver, 'volumes'>
  readonly lifecycle: Pick<Lifecycle, 'list'>
}): Promise<Check[]> {
  const check = { id: 'kept-data', title: 'kept data' }
  try {
    const installed = new Set(deps.lifecycle.list().map(({ record }) => record.id))
    const kept = (await deps.driver.volumes.list()).map(({ packageId }) => packageId).filter((id) => !installed.has(id))
    if (kept.length === 0) return []
    const hint = `to remove it: ${kept.map((id) => `pkg uninstall ${id} --purge`).join('; ')}`
    return [{ ...check, status: 'ok', detail: `of ${kept.sort().join(', ')}, uninstalled`, hint }]
  } catch (error) {
    return [{ ...check, status: 'warning', detail: `cannot be listed: ${toPkgdError(error).message}` }]
  }
}
