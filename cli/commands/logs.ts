import type { LogEntry } from '../../daemon/api/schemas/packages.ts'
import { PkgdError } from '../../daemon/core/errors.ts'
import { type Answer, defineCommand } from '../command.ts'

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
  async *run({ args: [id = ''], options, client, signal }) {
    if (options.tail !== undefined && !/^\d+$/.test(options.tail))
      throw new PkgdError('USAGE', `--tail ${options.tail}: expected a number of lines`)
    const path = `/v1/packages/${encodeURIComponent(id)}/logs`
    const tail = options.tail === undefined ? '' : `tail=${options.tail}`
    const toAnswer = (entry: LogEntry): Answer => ({ json: entry, text: options.timestamps ? `${entry.time} ${entry.line}` : entry.line })
    if (options.follow) {
      for await (const entry of client.stream<LogEntry>(`${path}?follow=true&${tail}`, { signal })) yield toAnswer(entry)
    } else {
      for (const entry of await client.get<LogEntry[]>(`${path}?${tail}`, { signal })) yield toAnswer(entry)
    }
  },
})
