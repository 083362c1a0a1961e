import { findCoded } from '../../daemon/core/errors.ts'
import type { Clock } from '../../daemon/core/ports.ts'
import type { EngineApi } from './engineApi.ts'
import { reasonOf, statusOf } from './engineError.ts'

/** SIGTERM, then SIGKILL after `graceMs`; resolves when it is not running. `onKill` is called before SIGKILL is sent. */
export async function stopContainer(api: EngineApi, clock: Clock, id: string, graceMs: number, onKill: () => void): Promise<void> {
  const ended = api.waitContainer(id, AbortSignal.timeout(graceMs + 60_000))
  const overdue = Promise.withResolvers<'overdue'>()
  // A wait that fails is thrown below; until then it is nobody's.
  ended.catch(() => undefined)
  await signalContainer(api, id, 'SIGTERM')
  const cancel = clock.after(graceMs, () => overdue.resolve('overdue'))
  try {
    const first = await Promise.race([ended, overdue.promise])
    if (first !== 'overdue') return
    onKill()
    await signalContainer(api, id, 'SIGKILL')
    await ended
  } finally {
    cancel()
  }
}

/** A frozen one is thawed, since it could not take the signal; one that is not running any more is fine. */
async function signalContainer(api: EngineApi, id: string, signal: string): Promise<void> {
  try {
    await api.killContainer(id, signal)
  } catch (error) {
    if (isConflict(error, /is not running/)) return
    if (!isConflict(error, /is paused/)) throw error
    await unlessConflict(api.unpauseContainer(id), /is not paused|is not running/)
    await unlessConflict(api.killContainer(id, signal), /is not running/)
  }
}

/** Whether the engine refused because of the container's state (409, and 500 of older engines). */
function isConflict(error: unknown, reason: RegExp): boolean {
  const status = statusOf(error)
  if (status !== 409 && status !== 500) return false
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (reason.test(reasonOf(at))) return true
  return false
}

/** A state that already is what was asked for is no error. */
export async function unlessConflict(work: Promise<void>, reason: RegExp): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isConflict(error, reason)) throw error
  }
}

export const isGone = (error: unknown): boolean => findCoded(error)?.code === 'SANDBOX_NOT_FOUND'
