import type { LogEntry, LogQuery, SandboxDriver } from '../../sandbox/sandboxDriver.ts'
import { findCoded } from '../core/errors.ts'
import type { LastWords } from './lastWords.ts'
import type { PackageView } from './lifecycle.ts'

/** The log of the package's sandbox, or the last lines of the one it had. */
export async function* readLogs(
  { driver, lastWords }: { driver: SandboxDriver; lastWords: LastWords },
  { record, sandbox }: PackageView,
  query: LogQuery,
): AsyncIterable<LogEntry> {
  if (sandbox) {
    try {
      yield* driver.logs(sandbox.handle, query)
      return
    } catch (error) {
      if (findCoded(error)?.code !== 'SANDBOX_NOT_FOUND') throw error
    }
  }
  const kept = lastWords.get(record.id)
  yield* query.tail === undefined ? kept : kept.slice(-query.tail)
}
