import { findCoded, PkgdError } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'
import type { Frame, RequestOptions, RpcResult } from './rpc.ts'

/** The requests under way towards the other side, each with its deadline and its caller's signal. */
export interface PendingCalls {
  /** `giveUp` is called when the call ends before its answer: by its deadline or its caller. */
  add(id: string, call: { method: string; options: RequestOptions; giveUp: (reason: string) => void }): Promise<Frame<RpcResult>>
  has(id: unknown): id is string
  method(id: string): string
  resolve(id: string, frame: Frame<RpcResult>): void
  reject(id: string, error: Error): void
  progress(id: string, params: Record<string, unknown>): void
  rejectAll(error: Error): void
  readonly size: number
}

interface Call {
  readonly method: string
  readonly settle: (outcome: { frame: Frame<RpcResult> } | { error: Error }) => void
  readonly progress: (params: Record<string, unknown>) => void
}

export function createPendingCalls(name: string, clock: Clock): PendingCalls {
  const calls = new Map<string, Call>()

  return {
    add(id, { method, options: { signal, timeoutMs, onProgress }, giveUp }) {
      return new Promise((resolve, reject) => {
        let stopTimer = () => {}
        const settle: Call['settle'] = (outcome) => {
          calls.delete(id)
          stopTimer()
          signal?.removeEventListener('abort', onAbort)
          if ('frame' in outcome) resolve(outcome.frame)
          else reject(outcome.error)
        }
        const onAbort = () => {
          settle({ error: toAbortError(name, method, signal) })
          giveUp('the caller gave up')
        }
        const startTimer = () => {
          stopTimer()
          if (timeoutMs === undefined) return
          stopTimer = clock.after(timeoutMs, () => {
            settle({ error: new PkgdError('CALL_TIMEOUT', `${name} did not answer ${method} within ${timeoutMs} ms`) })
            giveUp('timed out')
          })
        }
        const progress = (params: Record<string, unknown>) => {
          startTimer()
          onProgress?.(params)
        }
        calls.set(id, { method, settle, progress })
        signal?.addEventListener('abort', onAbort)
        startTimer()
      })
    },
    has: (id): id is string => typeof id === 'string' && calls.has(id),
    method: (id) => calls.get(id)?.method ?? '',
    resolve: (id, frame) => calls.get(id)?.settle({ frame }),
    reject: (id, error) => calls.get(id)?.settle({ error }),
    progress: (id, params) => calls.get(id)?.progress(params),
    rejectAll(error) {
      for (const call of [...calls.values()]) call.settle({ error })
    },
    get size() {
      return calls.size
    },
  }
}

/** The caller's own reason where it is one of pkgd's errors. */
export function toAbortError(name: string, method: string, signal: AbortSignal | undefined): PkgdError {
  const reason: unknown = signal?.reason
  return findCoded(reason) ?? new PkgdError('OPERATION_CANCELLED', `${method} to ${name} was cancelled`, { cause: reason })
}
