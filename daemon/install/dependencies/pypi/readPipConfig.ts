import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../../core/errors.ts'
import { type PipConfig, parsePipFile, toPipConfig } from './pipConfig.ts'

/** The host's pip configuration: machine, user, `PIP_CONFIG_FILE`, environment, in pip's own order. */
export async function readPipConfig(env: Readonly<Record<string, string | undefined>> = process.env): Promise<PipConfig> {
  const files: Record<string, string>[] = []
  for (const path of listPipFiles(env)) {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      // Most of these files do not exist on most machines.
      if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR') || hasCode(error, 'EACCES')) return undefined
      throw error
    })
    if (text !== undefined) files.push(parsePipFile(text))
  }
  return toPipConfig(files, env)
}

/** Where pip looks, the weakest first. `PIP_CONFIG_FILE=/dev/null` stands for no file at all. */
function listPipFiles(env: Readonly<Record<string, string | undefined>>): string[] {
  if (env.PIP_CONFIG_FILE === '/dev/null') return []
  const home = env.HOME
  const config = env.XDG_CONFIG_HOME ?? (home && join(home, '.config'))
  return [
    '/etc/pip.conf',
    '/etc/xdg/pip/pip.conf',
    ...(home ? [join(home, '.pip', 'pip.conf')] : []),
    ...(home && process.platform === 'darwin' ? [join(home, 'Library', 'Application Support', 'pip', 'pip.conf')] : []),
    ...(config ? [join(config, 'pip', 'pip.conf')] : []),
    ...(env.PIP_CONFIG_FILE ? [env.PIP_CONFIG_FILE] : []),
  ]
}
