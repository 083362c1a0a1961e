import type { FastifyReply } from 'fastify'
import { PkgdError } from '../../core/errors.ts'
import type { CloudEvent } from '../../core/events.ts'
import type { EventGap } from '../../events/eventBus.ts'
import type { Api, ApiDeps } from '../api.ts'
import { decodeCursor, toLink } from '../paginate.ts'
import { EventsQuery, EventView, PublishBody } from '../schemas/events.ts'
import { Type } from '../schemas/type.ts'
import { streamEvents } from '../streamEvents.ts'
import { setWarnings } from '../warnings.ts'

const tags = ['events']

/** What JSON may be called here: its own name, or CloudEvents'. */
const cloudEventTypes = ['application/cloudevents+json', 'application/cloudevents-batch+json']

const isId = (text: string) => /^\d{1,18}$/.test(text)

const describeGap = ({ reason, after }: EventGap): string =>
  reason === 'unknown'
    ? `${after} is the id of no event of this daemon: these are all that are stored`
    : `Events after ${after} are missing: they were older than events.keep in pkgd.yaml`

const toMessage = (item: CloudEvent | EventGap) =>
  'kind' in item
    ? { event: 'gap', data: { reason: item.reason, after: item.after, message: describeGap(item) } }
    : { id: item.id, data: item }

/** A cursor of this list: before or after which id. */
function parseCursor(cursor: string): { lastId: string } | { before: string } {
  const [side, id = ''] = decodeCursor(cursor).split(':')
  if (isId(id) && side === 'after') return { lastId: id }
  if (isId(id) && side === 'before') return { before: id }
  throw new PkgdError('USAGE', `The cursor "${cursor}" was not given by this list`)
}

export function registerEvents(app: Api, { events, closing, clock, log }: ApiDeps): void {
  for (const type of cloudEventTypes) app.addContentTypeParser(type, { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'))

  const listEvents = (query: EventsQuery, lastId: string | undefined, url: string, reply: FastifyReply): CloudEvent[] => {
    const glob = query.type ?? '*'
    const gap = lastId === undefined || query.cursor !== undefined ? null : events.gapAfter(lastId)
    if (gap?.reason === 'unknown') {
      throw new PkgdError('USAGE', `${lastId} is the id of no event of this daemon`, { hint: 'ask without it for the latest events' })
    }
    if (gap) setWarnings(reply, [describeGap(gap)])
    const from = query.cursor === undefined ? (lastId === undefined ? {} : { lastId }) : parseCursor(query.cursor)
    const page = events.history({ glob, ...from, limit: query.limit ?? 100 })
    const [first, last] = [page[0], page.at(-1)]
    const links = [
      ...(first && events.history({ glob, before: first.id, limit: 1 }).length > 0 ? [toLink(url, 'prev', `before:${first.id}`)] : []),
      ...(last && events.history({ glob, lastId: last.id, limit: 1 }).length > 0 ? [toLink(url, 'next', `after:${last.id}`)] : []),
    ]
    if (links.length > 0) reply.header('link', links.join(', '))
    return page
  }

  app.get(
    '/v1/events',
    {
      config: { streams: true },
      schema: {
        operationId: 'listEvents',
        summary:
          'Events as server-sent events, resumed by Last-Event-ID; with follow=false an array of what is stored, the latest first of all',
        description:
          'A stream says `event: gap` with `{reason, after, message}` where events are missing: `removed` by retention, or after an id that is `unknown`, whereupon all that is stored follows. ' +
          'Without `after` and `cursor` the array is the last page; `Link` names the older one (`prev`) and the newer one (`next`).',
        tags,
        querystring: EventsQuery,
        response: { 200: Type.Array(EventView) },
      },
    },
    async ({ query, headers, url }, reply) => {
      const header = headers['last-event-id']
      const lastId = (Array.isArray(header) ? header[0] : header) ?? query.after
      if (lastId !== undefined && !isId(lastId)) {
        throw new PkgdError('USAGE', `The Last-Event-ID "${lastId}" is not one of this daemon`, {
          hint: 'it is the id of an event, a number',
        })
      }
      if (query.follow === false) return listEvents(query, lastId, url, reply)
      const from = { glob: query.type ?? '*', ...(lastId === undefined ? {} : { lastId }) }
      await streamEvents({ reply, open: (signal) => events.stream({ ...from, signal }), toMessage, closing, clock, log })
      return reply
    },
  )

  app.post(
    '/v1/events',
    {
      schema: {
        operationId: 'publishEvents',
        summary: 'Publish CloudEvents, one or a batch, all or none',
        tags,
        consumes: ['application/json', ...cloudEventTypes],
        body: PublishBody,
        response: { 200: Type.Array(EventView) },
      },
    },
    ({ body }) =>
      events.accept(
        [body].flat().map(({ type, subject, data }) => ({ type, ...(subject === undefined ? {} : { subject }), data: data ?? null })),
        'api',
      ),
  )
}
