import { formatSize } from '../../../registry/manifest/formatSize.ts'
import { PkgdError } from '../../core/errors.ts'
import type { Limits } from '../../core/types.ts'

const names: Record<keyof Limits, { label: string; key: string; format: (value: number) => string }> = {
  memoryBytes: { label: 'memory', key: 'limits.max.memory', format: formatSize },
  cpus: { label: 'CPUs', key: 'limits.max.cpus', format: String },
  pids: { label: 'processes', key: 'limits.max.pids', format: String },
  tmpBytes: { label: '/tmp', key: 'limits.max.tmp', format: formatSize },
}

/** Refuses limits above the operator's, all of them at once. Never clamps. */
export function checkCeilings(packageId: string, limits: Limits, ceiling: Limits): void {
  const keys = Object.keys(names) as (keyof Limits)[]
  const nonsense = keys.find((key) => !(limits[key] > 0))
  if (nonsense)
    throw new PkgdError('USAGE', `The limit of ${names[nonsense].label} for ${packageId} must be above 0, not ${limits[nonsense]}`)
  const above = keys.filter((key) => limits[key] > ceiling[key])
  if (above.length === 0) return
  const said = above.map((key) => {
    const { label, format } = names[key]
    return { key, text: `${label}: ${format(limits[key])} asked, ${format(ceiling[key])} allowed` }
  })
  throw new PkgdError('LIMIT_ABOVE_CEILING', `${packageId} is above the ceiling (${said.map((one) => one.text).join('; ')})`, {
    hint: `ask for less, or raise ${above.map((key) => names[key].key).join(', ')} in pkgd.yaml`,
    issues: said.map((one) => ({ pointer: `/sandbox/${one.key}`, message: one.text, rule: 'ceiling' })),
  })
}
