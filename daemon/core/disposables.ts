/** Runs cleanups in reverse order, each once, whatever the others do; the first failure is thrown at the end with the rest in `errors`. */
export function createCleanups(): { add(cleanup: () => void | Promise<void>): void; run(): Promise<void> } {
  const cleanups: (() => void | Promise<void>)[] = []
  return {
    add(cleanup) {
      cleanups.push(cleanup)
    },
    async run() {
      const errors: unknown[] = []
      for (let next = cleanups.pop(); next; next = cleanups.pop()) {
        try {
          await next()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw new AggregateError(errors, 'Cleaning up failed')
    },
  }
}
