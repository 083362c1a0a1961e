import { arch } from 'node:os'
import { hasSwap, readKernel, unreadKernel } from '../confinement/kernelReading.ts'
import type { LimitName, LimitReading, SandboxReport } from '../sandboxDriver.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import type { KnownSandbox } from './sandboxCensus.ts'
import { pickFilterArchitecture } from './seccompFilter.ts'

/** The kernel keeps memory in pages and CPU time in whole microseconds of a period. */
const pageBytes = 65_536
const cpuStep = 0.001

/** What a sandbox is held to: as asked, as the kernel took it, as the kernel has it for the package's own process now. */
export async function readSandboxReport({ record, live }: KnownSandbox, { cgroups, asRoot }: BubblewrapContext): Promise<SandboxReport> {
  const [unenforced, kernel, swap] = await Promise.all([
    cgroups.unenforced(),
    live?.box ? readKernel(live.box.main.pid) : unreadKernel,
    hasSwap(),
  ])
  const { limits } = record
  const bySwap = kernel.memoryAndSwapBytes === null && kernel.memoryBytes !== null && swap
  const read = (name: LimitName, asked: number, effective: number | null, step: number): LimitReading => {
    const reason = unenforced[name]
    if (reason !== undefined) return { asked, engine: null, effective: null, enforced: false, note: reason }
    const known = effective ?? asked
    return {
      asked,
      engine: asked,
      effective: effective !== null && Number.isFinite(effective) ? effective : null,
      enforced: Math.abs(known - asked) <= step,
    }
  }
  const memory = read('memory', limits.memoryBytes, kernel.memoryAndSwapBytes ?? kernel.memoryBytes, pageBytes)
  return {
    limits: {
      memory: bySwap ? { ...memory, enforced: false, note: 'the kernel does not account swap, and this host has some' } : memory,
      cpu: read('cpu', limits.cpus, kernel.cpus, cpuStep),
      pids: read('pids', limits.pids, kernel.pids, 0),
      tmp: read('tmp', limits.tmpBytes, kernel.tmpBytes, pageBytes),
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
