/** Keeps the last bytes of what is pushed, whatever comes. */
export function createOutputTail(bytes: number): { push(chunk: Buffer): void; read(): string } {
  let chunks: Buffer[] = []
  let held = 0
  return {
    push(chunk) {
      chunks.push(chunk)
      held += chunk.length
      if (held < 4 * bytes) return
      chunks = [Buffer.concat(chunks).subarray(-bytes)]
      held = bytes
    },
    read: () => Buffer.concat(chunks).subarray(-bytes).toString(),
  }
}
