/** Wakes whoever waits for the next change of something. */
export interface Changes {
  notify(): void
  /** Resolves at the next `notify`; rejects with the signal's reason. */
  next(signal: AbortSignal): Promise<void>
}

export function createChanges(): Changes {
  const waiting = new Set<() => void>()
  return {
    notify() {
      const woken = [...waiting]
      waiting.clear()
      for (const wake of woken) wake()
    },
    next(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const abort = () => {
          waiting.delete(wake)
          reject(signal.reason)
        }
        const wake = () => {
          signal.removeEventListener('abort', abort)
          resolve()
        }
        signal.addEventListener('abort', abort, { once: true })
        waiting.add(wake)
      })
    },
  }
}
