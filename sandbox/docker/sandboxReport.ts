import { PkgdError } from '../../daemon/core/errors.ts'
import type { Limits } from '../../daemon/core/types.ts'
import type { LimitName, LimitReading, SandboxReport } from '../sandboxDriver.ts'
import { parseLabels } from './containerLabels.ts'
import type { ContainerDetails } from './engineApi.ts'
import type { KernelReading } from './kernelReading.ts'

export interface ReportInput {
  readonly details: ContainerDetails
  readonly kernel: KernelReading
  /** Whether this host has swap: without any, a limit of memory alone is one of both. */
  readonly swap: boolean
}

/** The kernel keeps memory in pages and CPU time in whole microseconds of a period. */
const pageBytes = 65_536
const cpuStep = 0.001

/** What a sandbox is held to: as asked, as the engine was told, as the kernel has it. */
export function toSandboxReport({ details, kernel, swap }: ReportInput): SandboxReport {
  const labels = parseLabels(details.Config.Labels)
  if (!labels) throw new PkgdError('SANDBOX_NOT_FOUND', `${details.Name} is no sandbox of pkgd's`)
  const host = details.HostConfig
  return {
    limits: toLimitReadings(labels.limits, details, kernel, swap),
    readOnlyRoot: kernel.readOnlyRoot ?? host.ReadonlyRootfs === true,
    capabilities: kernel.capabilities ?? (host.CapDrop?.includes('ALL') ? [] : ['default']),
    noNewPrivileges: kernel.noNewPrivileges ?? includesOption(host.SecurityOpt, 'no-new-privileges'),
    seccomp: kernel.seccomp ?? !includesOption(host.SecurityOpt, 'seccomp=unconfined'),
    user: kernel.user ?? details.Config.User,
    init: host.Init === true,
    network: labels.network,
    image: details.Image,
  }
}

function toLimitReadings(
  asked: Limits,
  { HostConfig: host }: ContainerDetails,
  kernel: KernelReading,
  swap: boolean,
): Record<LimitName, LimitReading> {
  const bySwap = kernel.memoryAndSwapBytes === null && kernel.memoryBytes !== null && swap
  const memory = kernel.memoryAndSwapBytes ?? kernel.memoryBytes
  return {
    memory: {
      ...reading(asked.memoryBytes, host.MemorySwap || host.Memory || null, memory, pageBytes),
      ...(bySwap && { enforced: false, note: 'the kernel does not account swap, and this host has some' }),
    },
    cpu: reading(asked.cpus, host.NanoCpus ? host.NanoCpus / 1e9 : null, kernel.cpus, cpuStep),
    pids: reading(asked.pids, host.PidsLimit || null, kernel.pids, 0),
    tmp: reading(asked.tmpBytes, parseTmpfsSize(host.Tmpfs?.['/tmp']), kernel.tmpBytes, pageBytes),
  }
}

/** Enforced is what the kernel says; where that is out of reach, what the engine says it was told. */
function reading(asked: number, engine: number | null, effective: number | null, step: number): LimitReading {
  const known = effective ?? engine
  const enforced = known !== null && Math.abs(known - asked) <= step
  return { asked, engine, effective: effective !== null && Number.isFinite(effective) ? effective : null, enforced }
}

function parseTmpfsSize(options: string | undefined): number | null {
  const size = /(?:^|,)size=(\d+)/.exec(options ?? '')?.[1]
  return size === undefined ? null : Number(size)
}

const includesOption = (options: unknown, wanted: string): boolean =>
  Array.isArray(options) && options.some((option) => typeof option === 'string' && option.startsWith(wanted))

/** Throws LIMIT_NOT_ENFORCED for the first limit that was not taken and that the operator does not let pass. */
export function checkEnforced(report: SandboxReport, packageId: string, allowed: readonly LimitName[]): void {
  for (const [name, { asked, engine, effective, enforced, note }] of Object.entries(report.limits)) {
    if (enforced || allowed.includes(name as LimitName)) continue
    const held = effective ?? engine ?? 'no limit'
    throw new PkgdError(
      'LIMIT_NOT_ENFORCED',
      `The ${name} limit of ${packageId} was not taken: asked ${asked}, in force ${held}${note ? ` (${note})` : ''}`,
      { hint: `let it pass with limits.allow_unenforced: [${name}] in pkgd.yaml, or use an engine that enforces it` },
    )
  }
}
