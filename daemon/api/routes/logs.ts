import type { Api, ApiDeps } from '../api.ts'
import { PackageParams } from '../schemas/common.ts'
import { LogEntry, LogsQuery } from '../schemas/packages.ts'
import { Type } from '../schemas/type.ts'
import { streamEvents, toClientSignal } from '../streamEvents.ts'

export function registerLogs(app: Api, { lifecycle, closing, clock, log }: ApiDeps): void {
  const schema = {
    operationId: 'readLogs',
    summary: 'What a package wrote to stderr; with follow=true as server-sent events',
    tags: ['packages'],
    params: PackageParams,
    querystring: LogsQuery,
    response: { 200: Type.Array(LogEntry) },
  }
  app.get('/v1/packages/:id/logs', { config: { streams: true }, schema }, async ({ params: { id }, query }, reply) => {
    lifecycle.get(id)
    const open = (signal: AbortSignal) =>
      lifecycle.logs(id, { follow: query.follow ?? false, signal, ...(query.tail === undefined ? {} : { tail: query.tail }) })
    if (query.follow) {
      await streamEvents({ reply, open, closing, clock, log })
      return reply
    }
    return Array.fromAsync(open(toClientSignal(reply, closing)))
  })
}
