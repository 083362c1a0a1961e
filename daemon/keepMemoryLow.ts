import type { Clock } from './core/ports.ts'
import type { EventBus } from './events/eventBus.ts'

/** A daemon rests when nothing has happened for this long. */
const quietMs = 2_000

/**
 * Collects garbage each time that the daemon comes to rest: what a start or an install leaves behind would else stay until the next one needs the room, and
 * a daemon rests for days. Does nothing in a process without `--expose-gc`.
 */
export function keepMemoryLow({ events, clock }: { readonly events: Pick<EventBus, 'subscribe'>; readonly clock: Clock }): Disposable {
  const collect = globalThis.gc
  if (!collect) return { [Symbol.dispose]: () => undefined }
  let cancel = () => {}
  const wait = () => {
    cancel()
    cancel = clock.after(quietMs, () => void collect({ type: 'major', execution: 'async', flavor: 'last-resort' }))
  }
  const unsubscribe = events.subscribe('*', wait)
  wait()
  return {
    [Symbol.dispose]() {
      unsubscribe()
      cancel()
    },
  }
}
