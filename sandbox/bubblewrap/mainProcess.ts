import { readdir, readFile } from 'node:fs/promises'
import { hasCode } from '../../daemon/core/errors.ts'
import { type ProcessIdentity, readProcess } from './processIdentity.ts'

/** The first process that a sandbox's PID 1 has made: the package's own. Undefined when it is over. */
export async function findMainProcess(init: number): Promise<ProcessIdentity | undefined> {
  for (const pid of await listChildren(init)) {
    const child = await readProcess(pid)
    if (child?.parent === init) return { pid: child.pid, startTicks: child.startTicks, boot: child.boot }
  }
  return undefined
}

/** The kernel's own list, oldest first, where it keeps one; else every process there is. */
async function listChildren(pid: number): Promise<number[]> {
  try {
    const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').filter(Boolean).map(Number)
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ESRCH')) throw error
    const entries = await readdir('/proc')
    return entries.filter((entry) => /^\d+$/.test(entry)).map(Number)
  }
}
