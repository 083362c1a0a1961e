import { PageQuery, strict, Time } from './common.ts'
import { type Static, Type } from './type.ts'

/** CloudEvents 1.0, structured form. */
export const EventView = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: Type.String({ description: 'What Last-Event-ID names' }),
    source: Type.String(),
    type: Type.String(),
    subject: Type.Optional(Type.String()),
    time: Time,
    datacontenttype: Type.Literal('application/json'),
    data: Type.Unknown(),
  },
  { description: 'CloudEvents 1.0' },
)
export type EventView = Static<typeof EventView>

export const EventsQuery = strict({
  type: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'A glob over event types, such as package.*' })),
  follow: Type.Optional(Type.Boolean({ description: 'false answers an array of what is stored instead of a stream' })),
  after: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: 'As the header Last-Event-ID: events after this id' })),
  ...PageQuery.properties,
})
export type EventsQuery = Static<typeof EventsQuery>

/** A CloudEvent as a caller gives it: its id, source and time are the daemon's to set. */
const GivenEvent = strict({
  type: Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: '^[a-z0-9][a-zA-Z0-9_-]*(\\.[a-zA-Z0-9_-]+)+$',
    description: 'Such as acme.deployed',
  }),
  subject: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  data: Type.Optional(Type.Unknown()),
  specversion: Type.Optional(Type.Literal('1.0')),
  datacontenttype: Type.Optional(Type.Literal('application/json')),
  id: Type.Optional(Type.String()),
  source: Type.Optional(Type.String()),
  time: Type.Optional(Type.String()),
})

export const PublishBody = Type.Union([GivenEvent, Type.Array(GivenEvent, { minItems: 1, maxItems: 1000 })], {
  description: 'A CloudEvent, or a batch',
})
export type PublishBody = Static<typeof PublishBody>
