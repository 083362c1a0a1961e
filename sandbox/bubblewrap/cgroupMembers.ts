import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { hasCode } from '../../daemon/core/errors.ts'

/** Host process ids in a cgroup's cgroup.procs; none when the cgroup is gone. */
export async function readMembers(roll: string): Promise<number[]> {
  try {
    const text = await readFile(roll, 'utf8')
    return text.split('\n').filter(Boolean).map(Number)
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENODEV')) return []
    throw error
  }
}

/** SIGKILL to each; already gone is fine. */
export function killAll(processes: readonly number[]): void {
  for (const pid of processes) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error
    }
  }
}

/** Resolves when nothing is left in a cgroup, whose first process is over: what that left behind ends with it. */
export async function emptyCgroup(roll: string): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const left = await readMembers(roll)
    if (left.length === 0) return
    killAll(left)
    await delay(attempt < 20 ? 1 : 10)
  }
}
