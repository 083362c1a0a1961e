import type { CloudEvent, EventData, EventType } from '../core/events.ts'

/** Said in a stream's place of events that are not to be had. */
export interface EventGap {
  readonly kind: 'gap'
  /** `removed`: by retention. `unknown`: the id is of no event of this daemon, so all that is stored follows. */
  readonly reason: 'removed' | 'unknown'
  /** The id after which events were asked for or told last. */
  readonly after: string
}

/** An event of somebody else's. */
export type GivenEvent = Pick<CloudEvent, 'type' | 'subject' | 'data'>

/** The typed bus: what is published is stored first, then told to whoever listens. */
export interface EventBus {
  publish<T extends EventType>(type: T, subject: string, data: EventData[T]): CloudEvent<EventData[T]>
  /**
   * The same for events of somebody else's, all or none, under a source that the daemon gives them. Errors: USAGE for a type of the daemon's own, whose
   * meaning is not anybody's to give.
   */
  accept(events: readonly GivenEvent[], from: string): CloudEvent[]
  /** Calls `listener` for each event whose type matches `glob` (`package.*`, `*`). Returns the unsubscription. A listener's error never reaches the publisher. */
  subscribe(glob: string, listener: (event: CloudEvent) => void): () => void
  /** Stored events after `lastId` first, then live ones without a repeat, until the signal. Nothing is missing between them that no gap tells of. */
  stream(query: { glob: string; lastId?: string; signal: AbortSignal }): AsyncIterable<CloudEvent | EventGap>
  /** Stored events that match, in their order: the first `limit` after `lastId`; without it the last `limit`, those before `before` if it is given. */
  history(query: { glob: string; lastId?: string; before?: string; limit: number }): CloudEvent[]
  /** What is missing after an id that somebody saw last. */
  gapAfter(lastId: string): EventGap | null
}
