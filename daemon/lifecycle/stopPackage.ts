import { findCoded, PkgdError } from '../core/errors.ts'
import type { LastWords } from './lastWords.ts'
import type { LifecycleDeps } from './lifecycleDeps.ts'
import { removeSandbox } from './removeSandbox.ts'
import type { Run } from './run.ts'
import { withDeadline } from './withDeadline.ts'

/** How much longer than the grace a stop may take. */
const marginMs = 15_000

/** The part of the grace that is kept for SIGKILL, the engine's notice of the end and the removal, so that the whole stop takes no longer than the grace. */
const killShare = 0.1

/** Ends the conversation with `reason`, then the sandbox: SIGTERM, the grace, SIGKILL, removal. Already gone is fine. */
export async function stopPackage(deps: LifecycleDeps & { readonly lastWords: LastWords }, run: Run, reason: Error): Promise<void> {
  const { driver, clock, config, lastWords, log } = deps
  const { record, handle } = run
  run.over.abort(reason)
  await run.session
    ?.close(reason)
    .catch((error: unknown) => log.warn('a session did not close', { package: record.id, error: String(error) }))
  const graceMs = config().lifecycle.stopGraceMs
  const expired = () => new PkgdError('STOP_TIMEOUT', `${record.id} was not stopped within ${(graceMs + marginMs) / 1000} s`)
  await withDeadline({ clock, ms: graceMs + marginMs, signal: new AbortController().signal, expired }, async () => {
    try {
      run.exit = await driver.stop(handle, graceMs * (1 - killShare))
      await lastWords.capture(record.id, handle)
    } catch (error) {
      if (findCoded(error)?.code !== 'SANDBOX_NOT_FOUND') throw error
    }
    await removeSandbox(deps, record.id, handle)
  })
}
