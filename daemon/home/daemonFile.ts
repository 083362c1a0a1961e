import { renameSync, rmSync, writeFileSync } from 'node:fs'
import type { DaemonFile } from '../core/daemonFile.ts'
import type { Home } from '../core/home.ts'
import { processStartedAt } from '../core/processes.ts'

/** Says where this daemon is, at once and whole; disposing takes it back. */
export function writeDaemonFile(home: Home, { url, version }: Pick<DaemonFile, 'url' | 'version'>): DaemonFile & Disposable {
  const startedAt = new Date(processStartedAt(process.pid) ?? Date.now()).toISOString()
  const file: DaemonFile = { pid: process.pid, url, version, started_at: startedAt }
  writeFileSync(`${home.daemonFile}.new`, `${JSON.stringify(file)}\n`, { mode: 0o600 })
  renameSync(`${home.daemonFile}.new`, home.daemonFile)
  return { ...file, [Symbol.dispose]: () => rmSync(home.daemonFile, { force: true }) }
}
