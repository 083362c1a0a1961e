import { errorTable, type Issue, isErrorCode, PkgdError, toPkgdError } from './errors.ts'
import type { ErrorRecord } from './types.ts'

/** An error as users may see and jobs keep it. Of an unforeseen one only the title is shown: its message is for the log. */
export function toErrorRecord(thrown: unknown, at: number): ErrorRecord & { readonly issues?: readonly Issue[] } {
  const error = toPkgdError(thrown)
  const internal = error.code === 'INTERNAL'
  const hint = internal ? 'the daemon’s log has the cause' : error.hint
  return {
    code: error.code,
    message: internal ? errorTable.INTERNAL.title : error.message,
    ...(hint === undefined ? {} : { hint }),
    ...(error.issues.length === 0 ? {} : { issues: error.issues }),
    at: new Date(at).toISOString(),
  }
}

/** What was kept or sent of an error, as the error again: the work fails as if it had been done here. */
export function fromErrorRecord({
  code,
  message,
  hint,
  issues,
}: Pick<ErrorRecord, 'code' | 'message' | 'hint'> & { readonly issues?: readonly Issue[] }): PkgdError {
  return new PkgdError(isErrorCode(code) ? code : 'INTERNAL', message, {
    ...(hint === undefined ? {} : { hint }),
    ...(issues === undefined ? {} : { issues }),
  })
}
