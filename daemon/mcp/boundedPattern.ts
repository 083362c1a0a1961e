import { type Context, createContext, Script } from 'node:vm'
import { hasCode } from '../core/errors.ts'

const script = new Script('pattern.test(text)')

/** A pattern that takes longer for one text is a pattern that backtracks without end. */
const maxMs = 50

let context: Context | undefined

/**
 * A regular expression out of a package's schema. It runs in the daemon, on text that the package may have asked for, so its time is bounded:
 * a match that takes too long counts as one, since the package checks its arguments itself. Errors: SyntaxError.
 */
export function createBoundedPattern(source: string, flags: string): { test(text: string): boolean } {
  const pattern = new RegExp(source, flags)
  return {
    test(text) {
      context ??= createContext({})
      context.pattern = pattern
      context.text = text
      try {
        return script.runInContext(context, { timeout: maxMs }) === true
      } catch (error) {
        if (hasCode(error, 'ERR_SCRIPT_EXECUTION_TIMEOUT')) return true
        throw error
      }
    },
  }
}
