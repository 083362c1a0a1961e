import type { Check, Info } from '../api/schemas/info.ts'
import type { Config } from '../config/config.ts'

type Driver = Info['driver']

const stdioNames = { pipes: 'named pipes', attach: "the engine's attach" } as const

/** Whether sandboxes can be made at all. */
export function checkDriver({ name, state, reason, capabilities }: Driver): Check {
  const check = { id: 'driver', title: 'sandbox driver' }
  if (state === 'degraded' || !capabilities) {
    const hint = name === 'docker' ? 'start the container engine; packages that run go on without it' : "the daemon's log has more"
    return { ...check, status: 'error', detail: `${name}: ${reason}`, hint }
  }
  const { version, stdio, notes } = capabilities
  const detail = `${name} ${version}, stdio through ${stdioNames[stdio]}${notes.map((note) => `; ${note}`).join('')}`
  return { ...check, status: notes.length > 0 ? 'warning' : 'ok', detail }
}

/** Limits that this machine cannot enforce, and whether the operator lets packages run without them. */
export function checkLimits({ capabilities }: Driver, { limits: { allowUnenforced } }: Config): Check {
  const check = { id: 'limits', title: 'limits' }
  if (!capabilities) return unknown(check)
  const lacking = Object.entries(capabilities.unenforced)
  if (lacking.length === 0) {
    const waived = allowUnenforced.length > 0 ? `; pkgd.yaml would let packages run without ${allowUnenforced.join(', ')}` : ''
    return { ...check, status: waived ? 'warning' : 'ok', detail: `memory, CPU, processes and /tmp are enforced${waived}` }
  }
  const refused = lacking.filter(([limit]) => !allowUnenforced.some((allowed) => allowed === limit))
  const detail = lacking.map(([limit, why]) => `${limit} is not enforced here: ${why}`).join('; ')
  if (refused.length === 0) return { ...check, status: 'warning', detail: `${detail} (allowed by pkgd.yaml)` }
  const hint = `packages do not start; to run them without: limits.allow_unenforced: [${refused.map(([limit]) => limit).join(', ')}] in pkgd.yaml`
  return { ...check, status: 'error', detail, hint }
}

const modeNames: Readonly<Record<string, string>> = {
  none: 'none',
  internet: 'the public internet',
  allow: 'a list of hosts and ports',
}

/** Network modes that packages can be given. */
export function checkNetwork({ capabilities }: Driver): Check {
  const check = { id: 'network', title: 'network' }
  if (!capabilities) return unknown(check)
  const refused = Object.entries(capabilities.networkRefused)
  const can = capabilities.network.map((mode) => modeNames[mode] ?? mode).join(', ')
  const cannot = refused.map(([mode, why]) => `; not ${modeNames[mode] ?? mode} (${why})`).join('')
  return {
    ...check,
    status: refused.some(([mode]) => mode === 'internet') ? 'warning' : 'ok',
    detail: `what packages can be given: ${can}${cannot}`,
  }
}

const unknown = (check: { id: string; title: string }): Check => ({
  ...check,
  status: 'warning',
  detail: 'not known while the driver is away',
})
