import type { EventView } from '../../daemon/api/schemas/events.ts'
import { type Answer, defineCommand, type Lines } from '../command.ts'

export const events = defineCommand({
  name: 'events',
  summary: 'what happened last; with --follow, what happens',
  usage: ['events [--follow] [--type <glob>] [--after <id>] [--limit <n>]'],
  arity: [0, 0],
  options: {
    follow: { type: 'boolean', short: 'f', description: 'go on as events come, until Ctrl-C' },
    type: { type: 'string', value: '<glob>', description: "only these, e.g. 'package.*'" },
    limit: { type: 'string', short: 'n', value: '<n>', description: 'that many of the newest; 100 unless told, without --follow' },
    after: { type: 'string', value: '<id>', description: 'only those after this event' },
  },
  run({ options, client, signal }) {
    const query = new URLSearchParams({
      follow: String(options.follow === true),
      ...(options.type ? { type: options.type } : {}),
      ...(options.after ? { after: options.after } : {}),
      ...(options.limit ? { limit: options.limit } : {}),
    })
    const path = `/v1/events?${query}`
    return options.follow ? follow(client.stream<EventView>(path, { signal })) : once(client.get<EventView[]>(path, { signal }))
  },
})

async function* follow(events: AsyncIterable<EventView>): Lines {
  for await (const event of events) yield { json: event, text: toLine(event) }
}

async function once(events: Promise<EventView[]>): Promise<Answer> {
  const found = await events
  return { json: found, text: found.map(toLine).join('\n') }
}

const toLine = (event: EventView) =>
  `${event.id.padStart(6)}  ${event.time}  ${event.type.padEnd(20)}  ${event.subject ?? '-'}  ${JSON.stringify(event.data)}`
