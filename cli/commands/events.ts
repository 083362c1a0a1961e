import type { EventView } from '../../daemon/api/schemas/events.ts'
import { type Answer, defineCommand } from '../command.ts'

export const events = defineCommand({
  name: 'events',
  summary: 'what happened; with --follow, what happens',
  usage: ['events [--follow] [--type <glob>] [--after <id>]'],
  arity: [0, 0],
  options: {
    follow: { type: 'boolean', short: 'f', description: 'go on as events come, until Ctrl-C' },
    type: { type: 'string', value: '<glob>', description: "only these, e.g. 'package.*'" },
    after: { type: 'string', value: '<id>', description: 'only those after this event' },
  },
  async *run({ options, client, signal }) {
    const query = new URLSearchParams({
      follow: String(options.follow === true),
      ...(options.type ? { type: options.type } : {}),
      ...(options.after ? { after: options.after } : {}),
    })
    if (options.follow) {
      for await (const event of client.stream<EventView>(`/v1/events?${query}`, { signal })) yield toAnswer(event)
    } else {
      for (const event of await client.get<EventView[]>(`/v1/events?${query}`, { signal })) yield toAnswer(event)
    }
  },
})

const toAnswer = (event: EventView): Answer => ({
  json: event,
  text: `${event.id.padStart(6)}  ${event.time}  ${event.type.padEnd(20)}  ${event.subject ?? '-'}  ${JSON.stringify(event.data)}`,
})
