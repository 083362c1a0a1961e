import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { parseEnv } from 'node:util'
import { findCoded, hasCode, type PkgdError, toPkgdError } from '../core/errors.ts'
import type { Home } from '../core/home.ts'
import type { Clock, Logger } from '../core/ports.ts'
import type { Config } from './config.ts'
import { parseConfig } from './parseConfig.ts'

export interface ConfigSource extends Disposable {
  /** The newest valid configuration. */
  current(): Config
  /** Why the files as they are now give no configuration, or null when they do. */
  problem(): PkgdError | null
  /** Follows the files from now on; `onReload` is told of each reading that changed something or was invalid. */
  watch(onReload: (outcome: { valid: boolean; issues: number }) => void): void
}

interface ConfigSourceDeps {
  readonly home: Home
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
}

/** An editor writes a file in several steps: it is read once they have stopped for so long. */
const settleMs = 100

const readIfThere = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  }
}

/** Reads `pkgd.yaml` once. Errors: CONFIG_INVALID; later an invalid one is reported and the old one stays. */
export async function createConfigSource({ home, env, clock, log }: ConfigSourceDeps): Promise<ConfigSource> {
  const defaults = {
    hostMemoryBytes: totalmem(),
    hostCpus: availableParallelism(),
    shippedPackages: join(import.meta.dirname, '..', '..', 'packages'),
    homeRoot: home.root,
  }
  const read = async () =>
    parseConfig({ text: await readIfThere(home.config), env, dotenv: parseEnv(await readIfThere(home.dotenv)), defaults })

  let config = await read()
  let problem: PkgdError | null = null
  let watcher: FSWatcher | undefined
  let cancelTimer = () => {}

  const reload = async (onReload: Parameters<ConfigSource['watch']>[0]) => {
    try {
      const next = await read()
      problem = null
      if (JSON.stringify(next) === JSON.stringify(config)) return
      if (next.port !== config.port || next.driver !== config.driver) log.warn('a new port or driver is used after a restart of the daemon')
      config = next
      log.info('pkgd.yaml was read again')
      onReload({ valid: true, issues: 0 })
    } catch (error) {
      problem = toPkgdError(error)
      const issues = findCoded(error)?.issues ?? []
      log.error('pkgd.yaml has changed and is invalid; the old configuration stays', { error, issues })
      onReload({ valid: false, issues: issues.length })
    }
  }

  return {
    current: () => config,
    problem: () => problem,
    watch(onReload) {
      const names = new Set([basename(home.config), basename(home.dotenv)])
      watcher ??= watch(home.root, (_, name) => {
        if (name !== null && !names.has(name)) return
        cancelTimer()
        cancelTimer = clock.after(settleMs, () => void reload(onReload))
      })
      watcher.unref()
      watcher.on('error', (error) => log.error('pkgd.yaml is no longer watched', { error }))
    },
    [Symbol.dispose]() {
      cancelTimer()
      watcher?.close()
    },
  }
}
