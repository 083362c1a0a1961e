import type { OperationContext, Progress } from '../../daemon/core/ports.ts'

interface Running<T> {
  readonly work: Promise<T>
  readonly stop: AbortController
  readonly watchers: Set<(progress: Progress) => void>
  latest: Progress | null
}

/**
 * Long work that is done once for everyone who asks for it by the same key at the same time. All see its progress. Who cancels leaves; when the last
 * one does the work is stopped, and that one is answered when it has stopped.
 */
export function createSharedWork<T>(): (
  key: string,
  context: OperationContext,
  work: (context: OperationContext) => Promise<T>,
) => Promise<T> {
  const all = new Map<string, Running<T>>()

  function begin(key: string, work: (context: OperationContext) => Promise<T>): Running<T> {
    const stop = new AbortController()
    const watchers = new Set<(progress: Progress) => void>()
    const progress = (latest: Progress) => {
      running.latest = latest
      for (const watch of watchers) watch(latest)
    }
    // Begins a turn later, when whoever asked first is watching.
    const started = Promise.resolve().then(() => work({ signal: stop.signal, progress }))
    const running: Running<T> = {
      work: started.finally(() => {
        if (all.get(key) === running) all.delete(key)
      }),
      stop,
      watchers,
      latest: null,
    }
    // Its failure is thrown to those who wait; there may be none left.
    running.work.catch(() => undefined)
    all.set(key, running)
    return running
  }

  return async (key, { signal, progress }, work) => {
    signal.throwIfAborted()
    const running = all.get(key) ?? begin(key, work)
    const { watchers, stop, latest } = running
    if (latest) progress(latest)
    // A watcher of its own, even where two were given the same function.
    const watch = (each: Progress) => progress(each)
    watchers.add(watch)
    const left = Promise.withResolvers<never>()
    const leave = () => {
      watchers.delete(watch)
      if (watchers.size > 0) {
        left.reject(signal.reason)
        return
      }
      // Whoever asks from now on begins anew.
      all.delete(key)
      stop.abort(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await Promise.race([running.work, left.promise])
    } finally {
      signal.removeEventListener('abort', leave)
      watchers.delete(watch)
    }
  }
}
