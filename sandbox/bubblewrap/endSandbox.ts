import { hasCode } from '../../daemon/core/errors.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { isAlive, type ProcessIdentity } from './processIdentity.ts'
import { type LiveRecord, readRecord, runFile } from './sandboxRecord.ts'

/** Ends every process of a sandbox: all that is in its cgroups, and its PID 1, with which the kernel ends the rest where there are no cgroups. */
export async function endSandbox(name: string, { cgroups, directoryOf }: BubblewrapContext): Promise<void> {
  await (await cgroups.open(name)).kill()
  const live = await readRecord<LiveRecord>(directoryOf(name), runFile.live)
  if (live?.box) await signalProcess(live.box.init, 'SIGKILL')
}

/** Already gone is fine; a later process with the same number is never meant. */
export async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
  if (!(await isAlive(identity))) return
  try {
    process.kill(identity.pid, signal)
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}
