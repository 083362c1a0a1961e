import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Clock ticks a second in /proc: USER_HZ, 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/**
 * When a process began, milliseconds since the epoch, to about a second; null when there is none with that pid, or only one that is at its end.
 * Together with the pid it names one process: pids are reused.
 */
export function processStartedAt(pid: number): number | null {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
}

/** /proc/<pid>/stat, field 22 (proc(5)): ticks since boot. The command in field 2 may hold spaces and parentheses. */
function fromProc(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X' || isEnding(fields)) return null
    const boot = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1])
    return boot * 1000 + (Number(fields[19]) * 1000) / ticksPerSecond
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw error
  }
}

/** Fields 9 and 31: a process that is being torn down (PF_EXITING), or whose SIGKILL has not reached it yet, still has a pid and sockets, but answers no more. */
function isEnding(fields: readonly string[]): boolean {
  return (Number(fields[6]) & 0x4) !== 0 || (Number(fields[28]) & 0x100) !== 0
}

function fromPs(pid: number): number | null {
  try {
    return Date.parse(execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim())
  } catch {
    return null // ps exits 1 when there is no such process
  }
}
