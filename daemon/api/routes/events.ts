import { PkgdError } from '../../core/errors.ts'
import type { Api, ApiDeps } from '../api.ts'
import { EventsQuery, EventView, PublishBody } from '../schemas/events.ts'
import { Type } from '../schemas/type.ts'
import { streamEvents } from '../streamEvents.ts'

export function registerEvents(app: Api, { events, closing, clock, log }: ApiDeps): void {
  const schema = {
    summary: 'Events as server-sent events, resumed by Last-Event-ID; with follow=false an array of what is stored',
    tags: ['events'],
    querystring: EventsQuery,
    response: { 200: Type.Array(EventView) },
  }
  app.get('/v1/events', { schema }, async ({ query, headers }, reply) => {
    const header = headers['last-event-id']
    const lastId = (Array.isArray(header) ? header[0] : header) ?? query.after
    if (lastId !== undefined && !/^\d{1,18}$/.test(lastId)) {
      throw new PkgdError('USAGE', `The Last-Event-ID "${lastId}" is not one of this daemon`, {
        hint: 'it is the id of an event, a number',
      })
    }
    const from = { glob: query.type ?? '*', ...(lastId === undefined ? {} : { lastId }) }
    if (query.follow === false) return events.history({ ...from, limit: query.limit ?? 100 })
    await streamEvents({
      reply,
      open: (signal) => events.stream({ ...from, signal }),
      idOf: ({ id }) => id,
      closing,
      clock,
      log,
    })
    return reply
  })

  app.post(
    '/v1/events',
    {
      schema: {
        summary: 'Publish CloudEvents, one or a batch',
        tags: ['events'],
        body: PublishBody,
        response: { 200: Type.Array(EventView) },
      },
    },
    ({ body }) =>
      [body]
        .flat()
        .map(({ type, subject, data }) =>
          events.accept({ type, ...(subject === undefined ? {} : { subject }), data: data ?? null, from: 'api' }),
        ),
  )
}
