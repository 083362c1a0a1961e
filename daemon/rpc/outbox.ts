import type { Writable } from 'node:stream'

/** Lines on their way out, in order; what the channel cannot take waits here, where it can still be taken back. */
export interface Outbox {
  /** Resolves nothing: call `withdraw` to take it back. `onSent` is called when the channel has taken it. */
  send(line: Buffer, onSent?: () => void): OutgoingLine
  readonly waiting: number
}

interface OutgoingLine {
  /** True when it had not been sent: then it never is. */
  withdraw(): boolean
}

/** `onDrained` is called each time that nothing waits any more. */
export function createOutbox(channel: Writable, onDrained: () => void): Outbox {
  const queue = new Set<{ line: Buffer; onSent: (() => void) | undefined }>()

  channel.on('drain', () => {
    for (const item of queue) {
      if (channel.writableNeedDrain) return
      queue.delete(item)
      channel.write(item.line)
      item.onSent?.()
    }
    onDrained()
  })

  return {
    send(line, onSent) {
      const item = { line, onSent }
      if (queue.size > 0 || channel.writableNeedDrain) {
        queue.add(item)
      } else {
        channel.write(line)
        onSent?.()
      }
      return { withdraw: () => queue.delete(item) }
    },
    get waiting() {
      return queue.size
    },
  }
}
