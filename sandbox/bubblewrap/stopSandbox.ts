import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxExit } from '../../daemon/core/types.ts'
import type { SandboxHandle } from '../sandboxDriver.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { endSandbox, signalProcess } from './endSandbox.ts'
import type { SandboxCensus } from './sandboxCensus.ts'
import { runFile } from './sandboxRecord.ts'

/** SIGTERM to the package's first process, as an engine's init passes it on, then the end of everything after `graceMs`. */
export async function stopSandbox(
  handle: SandboxHandle,
  graceMs: number,
  context: BubblewrapContext,
  census: SandboxCensus,
): Promise<SandboxExit> {
  const { live, exit } = await census.find(handle)
  if (exit !== null || live === null) return exit ?? census.ended(handle.name)
  const ended = census.ended(handle.name)
  const overdue = Promise.withResolvers<'overdue'>()
  if (live.box) await signalProcess(live.box.main, 'SIGTERM')
  const cgroup = await context.cgroups.open(handle.name)
  // A frozen process takes a signal when it thaws.
  if (await cgroup.isFrozen()) await cgroup.thaw()
  const cancel = context.deps.clock.after(graceMs, () => overdue.resolve('overdue'))
  try {
    const first = await Promise.race([ended, overdue.promise])
    if (first !== 'overdue') return first
    await killSandbox(handle.name, context)
    return await ended
  } finally {
    cancel()
  }
}

/** Its end is then told as our doing, not as the memory limit's, whatever the kernel killed in it before. */
export async function killSandbox(name: string, context: BubblewrapContext): Promise<void> {
  await writeFile(join(context.directoryOf(name), runFile.killed), '')
  await endSandbox(name, context)
}
