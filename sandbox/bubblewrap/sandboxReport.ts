import { arch } from 'node:os'
import { readIfThere } from '../confinement/cgroups.ts'
import { hasSwap, type KernelReading, readKernel, unreadKernel } from '../confinement/kernelReading.ts'
import { limitStep, readLimit } from '../confinement/limitReading.ts'
import type { LimitName, LimitReading, SandboxReport } from '../sandboxDriver.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import type { KnownSandbox } from './sandboxCensus.ts'
import { pickFilterArchitecture } from './seccompFilter.ts'

/** What a sandbox is held to: as asked, as the kernel took it, as the kernel has it for the package's own process now. */
export async function readSandboxReport({ record, live }: KnownSandbox, { cgroups, asRoot }: BubblewrapContext): Promise<SandboxReport> {
  const unenforced = await cgroups.unenforced()
  const isGrouped = ['memory', 'cpu', 'pids'].some((name) => !(name in unenforced))
  const [kernel, swap] = await Promise.all([
    live?.box ? readHeld(live.box.main.pid, isGrouped ? record.name : '') : unreadKernel,
    hasSwap(),
  ])
  const { limits } = record
  const bySwap = kernel.memoryAndSwapBytes === null && kernel.memoryBytes !== null && swap
  const read = (name: LimitName, asked: number, effective: number | null): LimitReading => {
    const reason = unenforced[name]
    if (reason !== undefined) return { asked, engine: null, effective: null, enforced: false, note: reason }
    return readLimit(asked, asked, effective, limitStep[name])
  }
  const memory = read('memory', limits.memoryBytes, kernel.memoryAndSwapBytes ?? kernel.memoryBytes)
  return {
    limits: {
      memory: bySwap ? { ...memory, enforced: false, note: 'the kernel does not account swap, and this host has some' } : memory,
      cpu: read('cpu', limits.cpus, kernel.cpus),
      pids: read('pids', limits.pids, kernel.pids),
      tmp: read('tmp', limits.tmpBytes, kernel.tmpBytes),
    },
    readOnlyRoot: kernel.readOnlyRoot ?? true,
    capabilities: kernel.capabilities ?? [],
    noNewPrivileges: kernel.noNewPrivileges ?? true,
    seccomp: kernel.seccomp ?? pickFilterArchitecture(arch()) !== undefined,
    user: kernel.user ?? String(asRoot ? record.uid : (process.getuid?.() ?? record.uid)),
    init: true,
    network: record.network,
    image: record.image,
  }
}

/** A process that is ending is shown in the root's cgroup: what was read then is not the sandbox's. It never comes back, so one look afterwards is enough. */
async function readHeld(pid: number, cgroup: string): Promise<KernelReading> {
  const reading = await readKernel(pid)
  const place = await readIfThere(`/proc/${pid}/cgroup`)
  return place?.includes(cgroup) ? reading : unreadKernel
}
