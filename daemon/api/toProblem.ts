import { type ErrorCode, errorTable, type PkgdError } from '../core/errors.ts'
import type { Problem } from './schemas/common.ts'

/** The problem's type: a URN of the code, as there is no page on the net that it could name. */
export const problemType = (code: ErrorCode): string => `urn:pkgd:error:${code}`

/** RFC 9457. What is unforeseen shows its title only. */
export function toProblem(error: PkgdError): Problem {
  const row = errorTable[error.code]
  const internal = error.code === 'INTERNAL'
  return {
    type: problemType(error.code),
    title: row.title,
    status: row.status,
    detail: internal ? row.title : error.message,
    code: error.code,
    ...(internal ? { hint: "the daemon's log has the cause" } : error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.issues.length === 0 ? {} : { errors: [...error.issues] }),
  }
}
