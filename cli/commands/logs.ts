import type { LogEntry } from '../../daemon/api/schemas/packages.ts'
import { PkgdError } from '../../daemon/core/errors.ts'
import { type Answer, defineCommand, type Lines } from '../command.ts'

export const logs = defineCommand({
  name: 'logs',
  summary: "a package's stderr, oldest first",
  usage: ['logs <id> [-f] [-n <lines>]'],
  arity: [1, 1],
  completes: 'package',
  options: {
    follow: { type: 'boolean', short: 'f', description: 'go on as lines come, until Ctrl-C' },
    tail: { type: 'string', short: 'n', value: '<lines>', description: 'the last lines only' },
    timestamps: { type: 'boolean', short: 't', description: 'put the time before each line' },
  },
  run({ args: [id = ''], options, client, signal }) {
    if (options.tail !== undefined && !/^\d+$/.test(options.tail))
      throw new PkgdError('USAGE', `--tail ${options.tail}: expected a number of lines`)
    const query = new URLSearchParams({
      ...(options.follow ? { follow: 'true' } : {}),
      ...(options.tail === undefined ? {} : { tail: options.tail }),
    })
    const path = `/v1/packages/${encodeURIComponent(id)}/logs?${query}`
    const toLine = ({ time, line }: LogEntry) => (options.timestamps ? `${time} ${line}` : line)
    return options.follow
      ? follow(client.stream<LogEntry>(path, { signal }), toLine)
      : once(client.get<LogEntry[]>(path, { signal }), toLine)
  },
})

async function* follow(entries: AsyncIterable<LogEntry>, toLine: (entry: LogEntry) => string): Lines {
  for await (const entry of entries) yield { json: entry, text: toLine(entry) }
}

async function once(entries: Promise<LogEntry[]>, toLine: (entry: LogEntry) => string): Promise<Answer> {
  const found = await entries
  return { json: found, text: found.map(toLine).join('\n') }
}
