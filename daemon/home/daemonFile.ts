import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { DaemonFile } from '../api/schemas/daemonFile.ts'
import { hasCode } from '../core/errors.ts'
import type { Home } from '../core/home.ts'
import { processStartedAt } from '../core/processes.ts'

/** `daemon.json` as it stands, or undefined where there is none that can be read. */
export function readDaemonFile(home: Home): DaemonFile | undefined {
  try {
    return JSON.parse(readFileSync(home.daemonFile, 'utf8')) as DaemonFile
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Says where this daemon is, at once and whole; disposing takes it back. */
export function writeDaemonFile(home: Home, { url, version }: Pick<DaemonFile, 'url' | 'version'>): DaemonFile & Disposable {
  const startedAt = new Date(processStartedAt(process.pid) ?? Date.now()).toISOString()
  const file: DaemonFile = { pid: process.pid, url, version, started_at: startedAt }
  writeFileSync(`${home.daemonFile}.new`, `${JSON.stringify(file)}\n`, { mode: 0o600 })
  renameSync(`${home.daemonFile}.new`, home.daemonFile)
  return { ...file, [Symbol.dispose]: () => rmSync(home.daemonFile, { force: true }) }
}
