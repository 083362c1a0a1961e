/** Time, passed in so that decisions can be tested. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `fn` once after `ms`; the returned function cancels it. A pending timer does not keep the process alive. */
  after(ms: number, fn: () => void): () => void
}

/** A number in [0, 1). */
export type Random = () => number

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Structured log. Fields must hold no secret. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  child(fields: Record<string, unknown>): Logger
}

/** How far a long operation is. `fraction` is 0..1 of this stage where it is known. */
export interface Progress {
  readonly stage: string
  readonly message?: string
  readonly fraction?: number
}

/** What every long operation is given: it stops at the signal and reports as it goes. */
export interface OperationContext {
  readonly signal: AbortSignal
  readonly progress: (progress: Progress) => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
