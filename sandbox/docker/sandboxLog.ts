import type { LogEntry, LogQuery } from '../sandboxDriver.ts'
import type { EngineApi } from './engineApi.ts'
import { readLogEntries, readLogFrames } from './logFrames.ts'

/**
 * A sandbox's log. Through pipes only what came before them is on the container's own stdout, and is shown; with attach it is the protocol itself, and
 * is not. The engine counts the last lines over both streams, so with attach they are counted here.
 */
export async function* readSandboxLog(api: EngineApi, id: string, stdio: 'pipes' | 'attach', query: LogQuery): AsyncGenerator<LogEntry> {
  const { follow, tail, signal } = query
  if (stdio === 'pipes' || tail === undefined) {
    yield* read(api, id, { stdout: stdio === 'pipes', follow, tail: tail ?? null, signal })
    return
  }
  const kept: LogEntry[] = []
  for await (const entry of read(api, id, { stdout: false, follow: false, tail: null, signal })) kept.push(entry)
  if (tail > 0) yield* kept.slice(-tail)
  const last = kept.at(-1)?.time
  if (!follow || signal.aborted) return
  // The engine takes whole seconds at best; what was shown already is told by its time, which is of fixed width.
  const since = last === undefined ? {} : { since: Math.floor(Date.parse(last) / 1000) }
  for await (const entry of read(api, id, { stdout: false, follow: true, tail: null, signal, ...since })) {
    if (last === undefined || entry.time > last) yield entry
  }
}

async function* read(api: EngineApi, id: string, options: Parameters<EngineApi['readLogs']>[1]): AsyncGenerator<LogEntry> {
  const stream = await api.readLogs(id, options)
  try {
    yield* readLogEntries(readLogFrames(stream))
  } catch (error) {
    if (!options.signal.aborted) throw error
  } finally {
    stream.destroy()
  }
}
