import { Duplex } from 'node:stream'
import type { MemoryPipe } from './memoryPipe.ts'

/** One side of a pair of pipes as a stream. Destroying it leaves the pipes and what is in them as they are. `gate` holds both directions back while it is pending. */
export function createPipeDuplex(pipes: { readonly from: MemoryPipe; readonly to: MemoryPipe }, gate?: () => Promise<void>): Duplex {
  const gone = new AbortController()
  return new Duplex({
    read() {
      const read = async () => {
        await gate?.()
        const chunk = await pipes.from.read(gone.signal)
        await gate?.()
        if (!gone.signal.aborted) this.push(chunk)
      }
      read().catch((error: Error) => this.destroy(gone.signal.aborted ? undefined : error))
    },
    write(chunk: Buffer, _encoding, done) {
      const write = async () => {
        await gate?.()
        await pipes.to.write(chunk, gone.signal)
      }
      write().then(() => done(), done)
    },
    destroy(error, done) {
      gone.abort(new Error('The channel was let go'))
      done(error)
    },
  })
}
