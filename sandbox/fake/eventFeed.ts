/** A queue that one reader drains; what is pushed before the reader looks is kept for it. */
export interface EventFeed<T> {
  push(event: T): void
  /** Ends at the signal, on which `release` is called once. */
  drain(signal: AbortSignal, release: () => void): AsyncIterable<T>
}

export function createEventFeed<T>(): EventFeed<T> {
  const queue: T[] = []
  let wake: (() => void) | null = null
  return {
    push(event) {
      queue.push(event)
      wake?.()
    },
    async *drain(signal, release) {
      const stop = () => wake?.()
      signal.addEventListener('abort', stop)
      try {
        while (!signal.aborted) {
          const next = queue.shift()
          if (next !== undefined) {
            yield next
            continue
          }
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        signal.removeEventListener('abort', stop)
        release()
      }
    },
  }
}
