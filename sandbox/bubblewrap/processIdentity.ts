import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hasCode } from '../../daemon/core/errors.ts'

/** A process that cannot be taken for a later one with the same number: the kernel's clock at its start, in this boot. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks since boot, field 22 of /proc/<pid>/stat. */
  readonly startTicks: number
  readonly boot: string
}

let boot: string | undefined
const readBoot = () => {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return boot
}

/** Parent and start of a process, or undefined for one that is gone or a zombie. The name, which may hold anything, is in parentheses. */
export function parseStat(text: string): { parent: number; startTicks: number } | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent] = fields
  if (state === undefined || state === 'Z' || state === 'X') return undefined
  return { parent: Number(parent), startTicks: Number(fields[19]) }
}

export async function readProcess(pid: number): Promise<(ProcessIdentity & { parent: number }) | undefined> {
  try {
    const stat = parseStat(await readFile(`/proc/${pid}/stat`, 'utf8'))
    return stat && { pid, boot: readBoot(), ...stat }
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return undefined
    throw error
  }
}

/** Whether that very process still runs. */
export async function isAlive({ pid, startTicks, boot: since }: ProcessIdentity): Promise<boolean> {
  const now = await readProcess(pid)
  return now !== undefined && now.startTicks === startTicks && now.boot === since
}
