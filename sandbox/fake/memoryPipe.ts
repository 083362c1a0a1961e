/** A pipe in memory that holds as much as the kernel's does: a writer waits while it is full, a reader while it is empty. */
export interface MemoryPipe {
  /** Resolves when the pipe has room again. An abort leaves what was written in the pipe. */
  write(chunk: Buffer, signal: AbortSignal): Promise<void>
  /** All that is there, or null at the end. An abort takes nothing out. */
  read(signal: AbortSignal): Promise<Buffer | null>
  /** No more bytes come; what is in the pipe can still be read. */
  end(): void
}

const capacity = 64 * 1024

export function createMemoryPipe(): MemoryPipe {
  let chunks: Buffer[] = []
  let size = 0
  let ended = false
  let waiting: (() => void)[] = []

  const wake = () => {
    const woken = waiting
    waiting = []
    for (const each of woken) each()
  }
  const change = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const abort = () => {
        waiting = waiting.filter((each) => each !== done)
        reject(signal.reason)
      }
      const done = () => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      waiting.push(done)
    })

  return {
    async write(chunk, signal) {
      signal.throwIfAborted()
      if (ended) throw Object.assign(new Error('The pipe is closed'), { code: 'EPIPE' })
      chunks.push(chunk)
      size += chunk.length
      wake()
      while (size > capacity && !ended) await change(signal)
    },
    async read(signal) {
      while (size === 0 && !ended) await change(signal)
      signal.throwIfAborted()
      if (size === 0) return null
      const all = Buffer.concat(chunks)
      chunks = []
      size = 0
      wake()
      return all
    },
    end() {
      ended = true
      wake()
    },
  }
}
