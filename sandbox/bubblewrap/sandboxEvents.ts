import { EventEmitter, on } from 'node:events'
import { hasCode } from '../../daemon/core/errors.ts'
import type { SandboxEvent } from '../sandboxDriver.ts'

/** Tells every listener what happened from the moment on that it began to listen. */
export interface SandboxEvents {
  emit(event: SandboxEvent): void
  listen(signal: AbortSignal): AsyncIterable<SandboxEvent>
}

export function createSandboxEvents(): SandboxEvents {
  const emitter = new EventEmitter()
  emitter.setMaxListeners(0)
  return {
    emit: (event) => {
      emitter.emit('event', event)
    },
    listen(signal) {
      if (signal.aborted) return nothing()
      return untilAborted(on(emitter, 'event', { signal }))
    },
  }
}

async function* untilAborted(events: AsyncIterable<unknown[]>): AsyncGenerator<SandboxEvent> {
  try {
    for await (const [event] of events) yield event as SandboxEvent
  } catch (error) {
    if (!hasCode(error, 'ABORT_ERR')) throw error
  }
}

async function* nothing(): AsyncGenerator<SandboxEvent> {}
