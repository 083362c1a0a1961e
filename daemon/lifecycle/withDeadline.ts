import { findCoded } from '../core/errors.ts'
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

/**
 * Runs `body` with a signal of its own; at the deadline or the abort it rejects at once, whether `body` obeys or not. A body that ends with the deadline's own
 * code knows more about it than the clock: its error is the one.
 */
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
    work.then(late, () => undefined)
    throw signal.aborted ? own.signal.reason : await explain(work, own.signal.reason)
  } finally {
    cancel()
    signal.removeEventListener('abort', abort)
  }
}

/** The aborted work's own error, when it comes within a turn of the event loop and is about the same; else the reason it was aborted for. */
async function explain(work: Promise<unknown>, reason: unknown): Promise<unknown> {
  const nothing = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))
  const said = work.then(
    () => undefined,
    (error: unknown) => error,
  )
  const error = await Promise.race([said, nothing])
  const code = findCoded(error)?.code
  return code !== undefined && code === findCoded(reason)?.code ? error : reason
}
