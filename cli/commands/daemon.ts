import type { Info } from '../../daemon/api/schemas/info.ts'
import { findDaemon } from '../../daemon/core/daemonFile.ts'
import { PkgdError } from '../../daemon/core/errors.ts'
import { locateHome } from '../../daemon/core/home.ts'
import type { Client } from '../client.ts'
import { type Answer, defineCommand } from '../command.ts'
import { startDaemon, stopDaemon } from '../startDaemon.ts'
import { toPairs } from '../terminal/table.ts'

export const daemon = defineCommand({
  name: 'daemon',
  summary: 'start, stop or look at the daemon; packages go on while it is away',
  usage: ['daemon start', 'daemon stop', 'daemon status'],
  arity: [1, 1],
  completes: 'subcommand',
  subcommands: ['start', 'stop', 'status'],
  options: {},
  async run({ args: [verb = ''], client, signal }) {
    const home = locateHome()
    switch (verb) {
      case 'start': {
        const running = findDaemon(home)
        const found = running ?? (await startDaemon(home))
        return {
          json: found,
          text: running ? `The daemon is running already, pid ${found.pid}` : `The daemon is running, pid ${found.pid}, ${found.url}`,
        }
      }
      case 'stop': {
        const pid = await stopDaemon(home, signal)
        return {
          json: { stopped: pid },
          text: pid === null ? 'The daemon is not running' : `The daemon has stopped (pid ${pid}); running packages go on`,
        }
      }
      case 'status':
        return findDaemon(home) ? status(client, signal) : { json: { running: false }, text: 'The daemon is not running', exit: 3 }
      default:
        throw new PkgdError('USAGE', `daemon ${verb}: expected start, stop or status`)
    }
  },
})

async function status(client: Client, signal: AbortSignal): Promise<Answer> {
  const found = await client.get<Info>('/v1/info', { signal })
  const { driver, counts } = found
  const text = toPairs([
    ['version', found.version],
    ['pid', String(found.pid)],
    ['url', found.url ?? undefined],
    ['socket', found.socket],
    ['home', found.home],
    [
      'driver',
      driver.reason
        ? `${driver.name}, ${driver.state}: ${driver.reason}`
        : `${driver.name} ${driver.capabilities?.version ?? ''}, ${driver.state}`,
    ],
    ['packages', `${counts.packages} installed, ${counts.running} running, ${counts.failed} failed`],
    ['tools', String(counts.tools)],
    ['started', found.startedAt],
  ])
  return { json: found, text }
}
