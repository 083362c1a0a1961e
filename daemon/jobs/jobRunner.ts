import type { OperationContext } from '../core/ports.ts'
import type { JobRecord } from '../store/state.ts'

export interface JobRequest<T> {
  readonly kind: string
  readonly subject: string
  /** Two requests with the same key at once become one job. */
  readonly key: string
  readonly run: (context: OperationContext & { readonly jobId: string }) => Promise<T>
}

/** Long operations that can be followed. A job outlives the request that made it, not the daemon. */
export interface JobRunner {
  /** Starts it, or answers the twin that is under way. */
  submit<T>(request: JobRequest<T>): JobRecord
  get(id: string): JobRecord | undefined
  list(query: { limit: number; cursor?: string }): JobRecord[]
  /** Resolves with the finished job; rejects only when the signal aborts. */
  wait(id: string, signal?: AbortSignal): Promise<JobRecord>
  /** The job now and at each change, ending with its final state. */
  follow(id: string, signal: AbortSignal): AsyncIterable<JobRecord>
  cancel(id: string): JobRecord | undefined
  /** Cancels all and waits for them to end. */
  close(): Promise<void>
}
