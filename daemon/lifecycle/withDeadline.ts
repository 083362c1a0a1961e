import type { Clock } from '../core/ports.ts'

export interface Deadline<T> {
  readonly clock: Clock
  readonly ms: number
  readonly signal: AbortSignal
  /** The error when the time is up. */
  readonly expired: () => Error
  /** What to do with a result that comes when nobody waits for it any more. */
  readonly late?: (value: NoInfer<T>) => void
}

/** Runs `body` with a signal of its own; at the deadline or the abort it rejects at once, whether `body` obeys or not. */
export async function withDeadline<T>(
  { clock, ms, signal, expired, late }: Deadline<T>,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const own = new AbortController()
  const { promise: over, reject } = Promise.withResolvers<never>()
  own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true })
  const abort = () => own.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  const cancel = clock.after(ms, () => own.abort(expired()))
  const work = body(own.signal)
  try {
    return await Promise.race([work, over])
  } catch (error) {
    if (!own.signal.aborted) throw error
    // The reason is known; what the abandoned work says of its own abort adds nothing to it.
    work.then(late, () => undefined)
    throw own.signal.reason
  } finally {
    cancel()
    signal.removeEventListener('abort', abort)
  }
}
