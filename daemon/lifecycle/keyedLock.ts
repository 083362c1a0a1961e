/** One lock a key, first come first served. */
export interface KeyedLock {
  /** Resolves with the release when it is this one's turn; an abort leaves the queue and rejects with the signal's reason. */
  acquire(key: string, signal?: AbortSignal): Promise<Disposable>
  isHeld(key: string): boolean
  /** Resolves when nobody holds it or waits for it, without taking it. */
  whenFree(key: string): Promise<void>
  /** Keys that are held now. */
  held(): string[]
}

export function createKeyedLock(): KeyedLock {
  /** Those who wait for a held key, in order; a key that is free has no entry. */
  const queues = new Map<string, (() => void)[]>()
  const watchers = new Map<string, PromiseWithResolvers<void>>()

  const release = (key: string): Disposable => {
    let held = true
    return {
      [Symbol.dispose]() {
        if (!held) return
        held = false
        const next = queues.get(key)?.shift()
        if (next) next()
        else {
          queues.delete(key)
          watchers.get(key)?.resolve()
          watchers.delete(key)
        }
      },
    }
  }

  return {
    async acquire(key, signal) {
      signal?.throwIfAborted()
      const queue = queues.get(key)
      if (!queue) {
        queues.set(key, [])
        return release(key)
      }
      return new Promise((resolve, reject) => {
        const abort = () => {
          queue.splice(queue.indexOf(turn), 1)
          reject(signal?.reason)
        }
        const turn = () => {
          signal?.removeEventListener('abort', abort)
          resolve(release(key))
        }
        signal?.addEventListener('abort', abort, { once: true })
        queue.push(turn)
      })
    },
    isHeld: (key) => queues.has(key),
    async whenFree(key) {
      if (!queues.has(key)) return
      const watcher = watchers.get(key) ?? Promise.withResolvers<void>()
      watchers.set(key, watcher)
      await watcher.promise
    },
    held: () => [...queues.keys()],
  }
}
