import type { LimitReading, SandboxReport } from '../../sandbox/sandboxDriver.ts'
import type { NetworkPolicy } from '../core/types.ts'
import type { InstallResult } from '../install/installer.ts'
import type { PackageView as LivePackage } from '../lifecycle/lifecycle.ts'
import type { SandboxRecord } from '../store/state.ts'
import type { JobResults } from './schemas/jobs.ts'
import type { PackageView, SandboxView } from './schemas/packages.ts'

const toReading = ({ asked, engine, effective, enforced, note }: LimitReading) => ({
  asked,
  engine,
  effective,
  enforced,
  ...(note === undefined ? {} : { note }),
})

const toLimits = ({ memory, cpu, pids, tmp }: SandboxReport['limits']): SandboxView['limits'] => ({
  memory: toReading(memory),
  cpu: toReading(cpu),
  pids: toReading(pids),
  tmp: toReading(tmp),
})

function toSandboxView({ handle, launchedAt, report }: SandboxRecord): SandboxView {
  return {
    id: handle.id,
    name: handle.name,
    driver: handle.driver,
    launchedAt,
    image: report.image,
    limits: toLimits(report.limits),
    readOnlyRoot: report.readOnlyRoot,
    capabilities: [...report.capabilities],
    noNewPrivileges: report.noNewPrivileges,
    seccomp: report.seccomp,
    user: report.user,
    init: report.init,
    network: report.network,
  }
}

const toNetwork = (network: NetworkPolicy): PackageView['network'] =>
  network.mode === 'allow' ? { mode: 'allow', targets: network.targets.map(({ host, port }) => ({ host, port })) } : { mode: network.mode }

/** A package as REST shows it. Of values, the user's and secret ones alike, only the names leave the daemon. */
export function toPackageView({ record, status, sandbox }: LivePackage): PackageView {
  const { manifest, grants } = record
  const { limits } = grants
  const read = sandbox?.report.limits
  return {
    id: record.id,
    name: manifest.name,
    version: record.version,
    type: manifest.type,
    description: manifest.description ?? null,
    state: status.state,
    reason: status.reason,
    desired: status.desired,
    health: status.health,
    lastError: status.lastError,
    since: status.since,
    restarts: status.restarts.length,
    limits: {
      asked: { memoryBytes: limits.memoryBytes, cpus: limits.cpus, pids: limits.pids, tmpBytes: limits.tmpBytes },
      effective: read
        ? {
            memoryBytes: read.memory.effective,
            cpus: read.cpu.effective,
            pids: read.pids.effective,
            tmpBytes: read.tmp.effective,
          }
        : null,
    },
    sandbox: sandbox ? toSandboxView(sandbox) : null,
    network: toNetwork(grants.network),
    data: grants.data,
    mounts: grants.mounts.map(({ source, target, readOnly }) => ({ source, target, mode: readOnly ? 'ro' : 'rw' })),
    command: [...record.command],
    env: Object.keys(record.env).sort(),
    secrets: [...record.secrets].sort(),
    needs: { ...manifest.dependencies.extensions },
    start: manifest.start.mode,
    resolution: { ...record.resolution },
    manifestOrigin: record.manifestOrigin,
    tree: record.tree,
    uid: record.uid,
    installedAt: record.installedAt,
  }
}

export const toInstallView = (result: InstallResult): JobResults['install'] => ({
  package: toPackageView(result.package),
  installed: [...result.installed],
  unchanged: [...result.unchanged],
  kept: [...result.kept],
})
