import type { SandboxInfo } from '../../sandbox/sandboxDriver.ts'
import { hasCode, PkgdError, toPkgdError } from '../core/errors.ts'
import type { PackageRecord, SandboxRecord } from '../store/state.ts'
import { connectRun } from './connectRun.ts'
import { createPackageRedactor } from './packageRedactor.ts'
import { canHappen } from './packageState.ts'
import { createRun, type Run } from './run.ts'
import { stopPackage } from './stopPackage.ts'
import { findRecord, isOnDemand, moveState, releaseRun, type Supervision, toErrorRecord } from './supervision.ts'

/**
 * Goes on with the conversation that a former daemon had with a sandbox, under the package's lock. False when it could not be proven: then the sandbox
 * is gone and it is said why. Rejects when the engine is away.
 */
export async function adoptRun(
  supervision: Supervision,
  known: SandboxRecord,
  info: SandboxInfo,
  begin: (run: Run) => void,
): Promise<boolean> {
  const { id, deps, over } = supervision
  const record = findRecord(supervision)
  const silent = releaseRun(supervision)
  const run = createRun(record, known.handle, createPackageRedactor(record, deps.state.secrets))
  supervision.unready = run
  try {
    await silent?.session?.close(new Error('The conversation is opened anew'))
    if (info.status.state === 'frozen') await deps.driver.thaw(known.handle)
    const { timeoutMs, retries } = record.manifest.health
    run.session = await connectRun(deps, run, { session: known.session, ms: timeoutMs * retries, signal: over.signal })
    run.readyAt = Date.parse(known.launchedAt)
    moveState(supervision, 'adopt', { health: 'healthy', wasReady: true, reason: 'adopted' })
    deps.bus.publish('package.adopted', id, { sandbox: known.handle.id })
    begin(run)
    return true
  } catch (error) {
    if (over.signal.aborted || hasCode(error, 'ENGINE_UNREACHABLE')) throw error
    await refuse(supervision, record, run, error)
    return false
  } finally {
    supervision.unready = null
  }
}

async function refuse(supervision: Supervision, record: PackageRecord, run: Run, error: unknown): Promise<void> {
  const { id, deps, log } = supervision
  const why = toPkgdError(error)
  log.warn('a sandbox could not be taken over', { why: why.message })
  const message = `The sandbox of ${id} could not be taken over from the former daemon and was replaced: ${why.message}`
  const patch = { reason: 'adoption-failed', lastError: toErrorRecord(new PkgdError(why.code, message), supervision) }
  await stopPackage(deps, run, new PkgdError('PACKAGE_CRASHED', `${id} is being replaced`))
  const event = isOnDemand(record) ? 'rest' : 'fail'
  if (canHappen(deps.statuses.get(id).state, event)) moveState(supervision, event, patch)
  else deps.statuses.note(id, { lastError: patch.lastError })
}
