import { type Context, createContext, Script } from 'node:vm'

const script = new Script('pattern.test(text)')

/** A pattern that takes longer for one text is a pattern that backtracks without end. */
const maxMs = 50

let context: Context | undefined

/**
 * A regular expression out of a package's schema. It runs in the daemon, on text that the package may have asked for, so its time is bounded:
 * a match that takes too long counts as one, since the package checks its arguments itself. Errors: SyntaxError.
 */
export function createBoundedPattern(source: string, flags: string): { test(text: string): boolean; toString(): string } {
  const pattern = new RegExp(source, flags)
  return {
    // Ajv tells patterns apart by it.
    toString: () => pattern.toString(),
    test(text) {
      context ??= createContext({})
      context.pattern = pattern
      context.text = text
      try {
        return script.runInContext(context, { timeout: maxMs }) === true
      } catch (error) {
        if (isTimeout(error)) return true
        throw error
      }
    },
  }
}

/** The error is of the context's own realm: no `instanceof` of this one knows it. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
