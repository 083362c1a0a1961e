import { errorTable, hasCode, PkgdError, toPkgdError } from '../daemon/core/errors.ts'

/** An error as the user sees it: `error CODE: message`, each issue on a line of its own, and `hint: …` where there is one. */
export function formatError(error: PkgdError): string {
  const issues = error.issues.map((issue) => `  ${issue.pointer || '(document)'}: ${issue.message}${issue.fix ? `; ${issue.fix}` : ''}`)
  return [`error ${error.code}: ${error.message}`, ...issues, ...(error.hint ? [`hint: ${error.hint}`] : [])].join('\n')
}

/** Prints to stderr what was thrown; the exit code is the error table's. */
export function printError(thrown: unknown): number {
  const error = isAbort(thrown) ? new PkgdError('OPERATION_CANCELLED', 'Interrupted') : toPkgdError(thrown)
  process.stderr.write(`${formatError(error)}\n`)
  return errorTable[error.code].exit
}

const isAbort = (thrown: unknown) => hasCode(thrown, 'ABORT_ERR') || (thrown instanceof Error && thrown.name === 'AbortError')
