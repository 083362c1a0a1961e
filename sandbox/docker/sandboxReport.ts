import { PkgdError } from '../../daemon/core/errors.ts'
import type { Limits } from '../../daemon/core/types.ts'
import type { KernelReading } from '../confinement/kernelReading.ts'
import { limitStep, readLimit } from '../confinement/limitReading.ts'
import type { LimitName, LimitReading, SandboxReport } from '../sandboxDriver.ts'
import { parseLabels } from './containerLabels.ts'
import type { ContainerDetails } from './engineApi.ts'

export interface ReportInput {
  readonly details: ContainerDetails
  readonly kernel: KernelReading
  /** Whether this host has swap: without any, a limit of memory alone is one of both. */
  readonly swap: boolean
}

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
      ...readLimit(asked.memoryBytes, host.MemorySwap || host.Memory || null, memory, limitStep.memory),
      ...(bySwap && { enforced: false, note: 'the kernel does not account swap, and this host has some' }),
    },
    cpu: readLimit(asked.cpus, host.NanoCpus ? host.NanoCpus / 1e9 : null, kernel.cpus, limitStep.cpu),
    pids: readLimit(asked.pids, host.PidsLimit || null, kernel.pids, limitStep.pids),
    tmp: readLimit(asked.tmpBytes, parseTmpfsSize(host.Tmpfs?.['/tmp']), kernel.tmpBytes, limitStep.tmp),
  }
}

function parseTmpfsSize(options: string | undefined): number | null {
  const size = /(?:^|,)size=(\d+)/.exec(options ?? '')?.[1]
  return size === undefined ? null : Number(size)
}

const includesOption = (options: unknown, wanted: string): boolean =>
  Array.isArray(options) && options.some((option) => typeof option === 'string' && option.startsWith(wanted))
