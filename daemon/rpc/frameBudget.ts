/** The bytes that unfinished frames of all peers together may hold in memory. */
export interface FrameBudget {
  /** False when that many more would be over the budget; then nothing is taken. */
  take(bytes: number): boolean
  release(bytes: number): void
  readonly used: number
}

export function createFrameBudget(totalBytes: number): FrameBudget {
  let used = 0
  return {
    take(bytes) {
      if (used + bytes > totalBytes) return false
      used += bytes
      return true
    },
    release(bytes) {
      used -= bytes
    },
    get used() {
      return used
    },
  }
}
