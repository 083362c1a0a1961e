import { PkgdError } from '../core/errors.ts'
import type { CloudEvent, EventData, EventType } from '../core/events.ts'
import type { Clock, Logger } from '../core/ports.ts'
import type { State } from '../store/state.ts'
import type { EventBus, EventGap } from './eventBus.ts'
import { createEventMatcher } from './eventGlob.ts'

interface EventBusDeps {
  readonly events: State['events']
  /** CloudEvents `source` of the daemon's own. */
  readonly source: string
  readonly keep: () => { readonly keepMs: number; readonly keepAtMost: number }
  readonly clock: Clock
  readonly log: Logger
}

/** First words of the types that are the daemon's own, those to come included. */
const ownFamilies: ReadonlySet<string> = new Set(
  'package job tools resources prompts driver config tool resource prompt task run audit hook agent agents request pkgd'.split(' '),
)

/** How many events are read from the store at once: all that a stream ever holds. */
const pageSize = 100
const pruneEvery = 500
/** Before the first event. */
const beginning = '0'

/**
 * A stream keeps no queue: whoever is behind reads on in the store, and a publication only wakes those who wait. So a slow reader costs nothing
 * and misses nothing that retention has not removed.
 */
export function createEventBus({ events, source, keep, clock, log }: EventBusDeps): EventBus {
  const listeners = new Set<{ matches: (type: string) => boolean; listener: (event: CloudEvent) => void }>()
  const wakers = new Set<() => void>()
  let sincePrune = 0

  const prune = () => {
    sincePrune = 0
    const { keepMs, keepAtMost } = keep()
    events.prune(new Date(clock.now() - keepMs).toISOString(), keepAtMost)
  }
  prune()

  const tell = (event: CloudEvent) => {
    for (const { matches, listener } of listeners) {
      if (!matches(event.type)) continue
      try {
        listener(event)
      } catch (error) {
        log.error('an event listener failed', { type: event.type, error })
      }
    }
    for (const wake of wakers) wake()
  }

  const nextEvent = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        wakers.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      wakers.add(wake)
      signal.addEventListener('abort', wake)
    })

  const store = (event: Pick<CloudEvent, 'type' | 'source' | 'subject' | 'data'>): CloudEvent => {
    const stored = events.append({
      specversion: '1.0',
      ...event,
      time: new Date(clock.now()).toISOString(),
      datacontenttype: 'application/json',
    })
    if (++sincePrune >= pruneEvery) prune()
    tell(stored)
    return stored
  }

  const isUnknown = (id: string) => BigInt(id) > BigInt(events.last())
  /** Whether there were events between `id` and the next one that is stored. */
  const isRemoved = (id: string, next: CloudEvent | undefined) => {
    if (id === beginning) return false
    return next ? BigInt(next.id) > BigInt(id) + 1n : BigInt(events.last()) > BigInt(id)
  }

  return {
    publish<T extends EventType>(type: T, subject: string, data: EventData[T]) {
      return store({ type, source, subject, data }) as CloudEvent<EventData[T]>
    },
    accept(given, from) {
      for (const { type } of given) {
        if (!ownFamilies.has(type.split('.')[0] ?? '')) continue
        throw new PkgdError('USAGE', `Events of the type "${type}" are the daemon's own`, {
          hint: 'begin your types with a name of yours: acme.deployed',
        })
      }
      return given.map((event) => store({ ...event, source: `${source}/${from}` }))
    },
    subscribe(glob, listener) {
      const entry = { matches: createEventMatcher(glob), listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    async *stream({ glob, lastId, signal }) {
      const matches = createEventMatcher(glob)
      let at = lastId ?? events.last()
      if (isUnknown(at)) {
        yield { kind: 'gap', reason: 'unknown', after: at }
        at = beginning
      }
      while (!signal.aborted) {
        const page = events.since(at, pageSize)
        if (isRemoved(at, page[0])) {
          const gap: EventGap = { kind: 'gap', reason: 'removed', after: at }
          if (page.length === 0) at = events.last()
          yield gap
        }
        for (const event of page) {
          at = event.id
          if (matches(event.type)) yield event
          if (signal.aborted) return
        }
        // What is published between the reading and the waiting cannot be missed: nothing else runs in between.
        if (page.length === 0) await nextEvent(signal)
      }
    },
    history({ glob, lastId, before, limit }) {
      const matches = createEventMatcher(glob)
      const forward = lastId !== undefined
      const read = forward ? events.since : events.before
      const found: CloudEvent[] = []
      let at = lastId ?? before ?? String(BigInt(events.last()) + 1n)
      while (found.length < limit) {
        const page = read(at, pageSize)
        found.push(...page.filter(({ type }) => matches(type)))
        const last = page.at(-1)
        if (!last || page.length < pageSize) break
        at = last.id
      }
      const kept = found.slice(0, limit)
      return forward ? kept : kept.reverse()
    },
    gapAfter(lastId) {
      if (isUnknown(lastId)) return { kind: 'gap', reason: 'unknown', after: lastId }
      return isRemoved(lastId, events.since(lastId, 1)[0]) ? { kind: 'gap', reason: 'removed', after: lastId } : null
    },
  }
}
