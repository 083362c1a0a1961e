import type { Clock } from '../core/ports.ts'

/** Bounds how many starts weigh on the machine at once. */
export interface StartSlots {
  /** Resolves with the release. A slot is lent for `mostMs`: one that hangs never holds the others back for longer. */
  acquire(mostMs: number, signal: AbortSignal): Promise<Disposable>
}

/** `size` is asked at each turn, so that it can change. */
export function createStartSlots(size: () => number, clock: Clock): StartSlots {
  let taken = 0
  const queue: (() => void)[] = []
  const advance = () => {
    while (taken < Math.max(1, size())) {
      const next = queue.shift()
      if (!next) return
      taken++
      next()
    }
  }

  return {
    acquire(mostMs, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const abort = () => {
          queue.splice(queue.indexOf(turn), 1)
          reject(signal.reason)
        }
        const turn = () => {
          signal.removeEventListener('abort', abort)
          let lent = true
          const release = () => {
            if (!lent) return
            lent = false
            cancel()
            taken--
            advance()
          }
          const cancel = clock.after(mostMs, release)
          resolve({ [Symbol.dispose]: release })
        }
        signal.addEventListener('abort', abort, { once: true })
        queue.push(turn)
        advance()
      })
    },
  }
}
