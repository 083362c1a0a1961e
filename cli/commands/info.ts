import type { PackageView, SandboxView } from '../../daemon/api/schemas/packages.ts'
import { formatBytes } from '../../daemon/core/formatBytes.ts'
import { defineCommand } from '../command.ts'
import { formatState } from '../formatState.ts'
import { toPairs, toTable } from '../terminal/table.ts'

export const info = defineCommand({
  name: 'info',
  summary: 'one package: its state, its sandbox, each limit as asked and as the kernel holds it',
  usage: ['info <id>'],
  arity: [1, 1],
  completes: 'package',
  options: {},
  async run({ args: [id = ''], client, signal }) {
    const view = await client.get<PackageView>(`/v1/packages/${encodeURIComponent(id)}`, { signal })
    return { json: view, text: [facts(view), limits(view), view.sandbox ? hardening(view.sandbox) : ''].filter(Boolean).join('\n\n') }
  },
})

function facts(view: PackageView): string {
  const needs = Object.entries(view.needs).map(([id, range]) => `${id} ${range}`)
  return toPairs([
    ['id', view.id],
    ['name', view.name],
    ['version', view.version],
    ['type', view.type],
    ['description', view.description ?? undefined],
    ['state', formatState(view)],
    ['health', view.health],
    ['last error', view.lastError ? `${view.lastError.code}: ${view.lastError.message}` : undefined],
    ['hint', view.lastError?.hint],
    ['restarts', view.restarts > 0 ? String(view.restarts) : undefined],
    ['command', view.command.join(' ')],
    ['values', [...view.env, ...view.secrets.map((name) => `${name} (secret)`)].join(', ') || undefined],
    ['needs', needs.join(', ') || undefined],
    [
      'network',
      view.network.mode === 'allow' ? view.network.targets.map(({ host, port }) => `${host}:${port}`).join(', ') : view.network.mode,
    ],
    ['/data', view.data ? 'private, writable' : undefined],
    ['mounts', view.mounts.map(({ source, target, mode }) => `${source} at ${target} (${mode})`).join('\n') || undefined],
    ['manifest', view.manifestOrigin],
    ['installed', view.installedAt],
    ['user id', String(view.uid)],
    ['tree', `${view.tree.slice(0, 23)}…`],
  ])
}

function limits({ limits: { asked }, sandbox }: PackageView): string {
  const bytes = (value: number | null) => (value === null ? '-' : formatBytes(value))
  const plain = (value: number | null) => (value === null ? '-' : String(value))
  const row = (
    name: string,
    value: number,
    show: (value: number | null) => string,
    reading: SandboxView['limits']['memory'] | undefined,
  ) => [
    name,
    show(value),
    reading ? show(reading.engine) : '-',
    reading ? show(reading.effective) : '-',
    reading === undefined ? 'not running' : reading.enforced ? 'yes' : `no${reading.note ? `: ${reading.note}` : ''}`,
  ]
  return toTable(
    ['LIMIT', 'ASKED', 'ENGINE', 'EFFECTIVE', 'ENFORCED'],
    [
      row('memory + swap', asked.memoryBytes, bytes, sandbox?.limits.memory),
      row('cpus', asked.cpus, plain, sandbox?.limits.cpu),
      row('pids', asked.pids, plain, sandbox?.limits.pids),
      row('/tmp', asked.tmpBytes, bytes, sandbox?.limits.tmp),
    ],
    '',
  )
}

function hardening(sandbox: SandboxView): string {
  const yes = (value: boolean) => (value ? 'yes' : 'NO')
  return toPairs([
    ['sandbox', `${sandbox.name} (${sandbox.driver}, ${sandbox.id.slice(0, 12)})`],
    ['image', sandbox.image],
    ['launched', sandbox.launchedAt],
    ['user', sandbox.user],
    ['read-only root', yes(sandbox.readOnlyRoot)],
    ['no new privileges', yes(sandbox.noNewPrivileges)],
    ['seccomp', yes(sandbox.seccomp)],
    ['capabilities', sandbox.capabilities.length === 0 ? 'none' : sandbox.capabilities.join(', ')],
    ['init', yes(sandbox.init)],
    ['network', sandbox.network],
  ])
}
