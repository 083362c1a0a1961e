import type { CloudEvent, EventData, EventType } from '../core/events.ts'

/** The typed bus: what is published is stored first, then told to whoever listens. */
export interface EventBus {
  publish<T extends EventType>(type: T, subject: string, data: EventData[T]): CloudEvent<EventData[T]>
  /**
   * The same for an event of somebody else's, under a source that the daemon gives it. Errors: USAGE for a type of the daemon's own, whose meaning is not
   * anybody's to give.
   */
  accept(event: { readonly type: string; readonly subject?: string; readonly data: unknown; readonly from: string }): CloudEvent
  /** Calls `listener` for each event whose type matches `glob` (`package.*`, `*`). Returns the unsubscription. A listener's error never reaches the publisher. */
  subscribe(glob: string, listener: (event: CloudEvent) => void): () => void
  /** Stored events after `lastId` first, then live ones without a gap or a repeat, until the signal. A reader too slow is told so by an error, never buffered without bound. */
  stream(query: { glob: string; lastId?: string; signal: AbortSignal }): AsyncIterable<CloudEvent>
  /** Stored events after `lastId` that match, at most `limit`. */
  history(query: { glob: string; lastId?: string; limit: number }): CloudEvent[]
}
