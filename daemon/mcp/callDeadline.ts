import { PkgdError } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'
import { toAbortError } from '../rpc/pendingCalls.ts'

/** The one deadline of a call, from its first look-up to its answer. */
export interface CallDeadline extends Disposable {
  /** Does a part of the call, which is given up at the deadline whether `work` obeys the signal or not. `what` is named when the time is over meanwhile. */
  wait<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** The package is getting on with it: the time begins anew. */
  extend(): void
}

interface CallDeadlineOptions {
  /** The package, for messages. */
  readonly name: string
  readonly method: string
  readonly ms: number
  /** The caller's. */
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Errors of `wait`: CALL_TIMEOUT, and what the caller's signal was aborted with. */
export function createCallDeadline({ name, method, ms, signal, clock }: CallDeadlineOptions): CallDeadline {
  const own = new AbortController()
  let waitingFor = 'its turn'
  let cancelTimer = () => {}

  const expire = () => {
    const message = `${method} of ${name} was not done within ${ms} ms: it was waiting for ${waitingFor}`
    own.abort(new PkgdError('CALL_TIMEOUT', message, { hint: 'give the call more time: timeoutMs, or calls.timeout in pkgd.yaml' }))
  }
  const extend = () => {
    cancelTimer()
    cancelTimer = clock.after(ms, expire)
  }
  const abort = () => own.abort(toAbortError(name, method, signal))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  extend()

  return {
    async wait(what, work) {
      own.signal.throwIfAborted()
      waitingFor = what
      const over = Promise.withResolvers<never>()
      const giveUp = () => over.reject(own.signal.reason)
      own.signal.addEventListener('abort', giveUp, { once: true })
      try {
        return await Promise.race([work(own.signal), over.promise])
      } finally {
        own.signal.removeEventListener('abort', giveUp)
      }
    },
    extend,
    [Symbol.dispose]() {
      cancelTimer()
      signal.removeEventListener('abort', abort)
    },
  }
}
