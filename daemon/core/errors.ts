/** One row an error code: what REST answers, what the CLI exits with, and whether the same request may succeed later unchanged. */
export interface ErrorRow {
  /** HTTP status. */
  readonly status: number
  /** Exit code of the CLI (CONTRACT's table: 1 failed, 2 usage, 3 no daemon, 4 not found, 5 invalid, 6 refused, 7 timed out). */
  readonly exit: number
  readonly retryable: boolean
  /** The problem's title (RFC 9457): the same for every occurrence. */
  readonly title: string
}

/** Every error code of pkgd. docs/errors.md is generated from this table. */
export const errorTable = {
  INTERNAL: { status: 500, exit: 1, retryable: false, title: 'Something went wrong inside pkgd' },
  USAGE: { status: 400, exit: 2, retryable: false, title: 'The request is not of the expected form' },
  BODY_TOO_LARGE: { status: 413, exit: 2, retryable: false, title: 'The request is larger than is allowed' },
  HEADERS_TOO_LARGE: { status: 431, exit: 2, retryable: false, title: 'The request line and its headers are too large' },
  REQUEST_TIMEOUT: { status: 408, exit: 7, retryable: true, title: 'The request did not arrive in time' },
  ARGUMENTS_INVALID: { status: 400, exit: 2, retryable: false, title: "The arguments break the tool's schema" },
  UNAUTHORIZED: { status: 401, exit: 6, retryable: false, title: 'A valid bearer token is needed' },
  HOST_FORBIDDEN: { status: 403, exit: 6, retryable: false, title: 'The Host or Origin header is not one this daemon serves' },
  ROUTE_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'No such route' },
  DAEMON_UNREACHABLE: { status: 503, exit: 3, retryable: true, title: 'The daemon cannot be reached' },
  DAEMON_ALREADY_RUNNING: { status: 409, exit: 1, retryable: false, title: 'Another daemon owns this home' },
  PORT_IN_USE: { status: 409, exit: 1, retryable: false, title: 'The port is taken' },
  CONFIG_INVALID: { status: 422, exit: 5, retryable: false, title: 'The configuration is invalid' },
  PACKAGE_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'No such package' },
  VERSION_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'No version of the package satisfies the range' },
  SOURCE_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'The source of the package does not exist' },
  TOOL_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'No such tool' },
  RESOURCE_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'No such resource' },
  PROMPT_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'No such prompt' },
  JOB_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'No such job' },
  SPEC_INVALID: { status: 400, exit: 5, retryable: false, title: 'The package spec cannot be read' },
  MANIFEST_MISSING: { status: 422, exit: 5, retryable: false, title: 'The package has no manifest and none can be derived' },
  MANIFEST_INVALID: { status: 422, exit: 5, retryable: false, title: 'The manifest is invalid' },
  ARCHIVE_UNSAFE: { status: 422, exit: 5, retryable: false, title: 'The archive holds an entry that is not allowed' },
  ARCHIVE_TOO_LARGE: { status: 422, exit: 5, retryable: false, title: 'The archive unpacks to more than is allowed' },
  ARCHIVE_DAMAGED: { status: 422, exit: 5, retryable: false, title: 'The archive cannot be read' },
  INTEGRITY_REQUIRED: { status: 422, exit: 5, retryable: false, title: 'An archive of the web is installed only with its integrity' },
  INTEGRITY_MISMATCH: { status: 422, exit: 5, retryable: false, title: 'The content is not what its integrity says' },
  TREE_CHANGED: { status: 409, exit: 6, retryable: false, title: 'Installed files differ from what was recorded at install' },
  LOCKFILE_DAMAGED: { status: 422, exit: 5, retryable: false, title: 'The lockfile cannot be read' },
  LOCKFILE_OUTDATED: { status: 409, exit: 5, retryable: false, title: 'The lockfile does not match what was asked for' },
  DEPENDENCY_UNSOLVABLE: { status: 409, exit: 5, retryable: false, title: 'No version satisfies everyone who needs it' },
  DEPENDENCY_CYCLE: { status: 409, exit: 5, retryable: false, title: 'Packages depend on each other in a circle' },
  DEPENDENCY_SOURCE: { status: 422, exit: 6, retryable: false, title: 'A dependency does not come from a registry' },
  DEPENDENCY_INSTALL_FAILED: { status: 502, exit: 1, retryable: true, title: "The package's dependencies could not be installed" },
  DEPENDENCY_NOT_BUILT: { status: 422, exit: 1, retryable: false, title: 'A dependency needs a native build that was not run' },
  DEPENDENTS_EXIST: { status: 409, exit: 6, retryable: false, title: 'Other packages depend on this one' },
  AMBIGUOUS_ECOSYSTEM: {
    status: 422,
    exit: 5,
    retryable: false,
    title: 'It is not said whether the dependencies are npm or PyPI packages',
  },
  RUNTIME_UNSUPPORTED: { status: 422, exit: 5, retryable: false, title: 'No runtime here satisfies the range the package asks for' },
  REGISTRY_UNREACHABLE: { status: 502, exit: 1, retryable: true, title: 'A package registry cannot be reached' },
  CONSENT_REQUIRED: { status: 403, exit: 6, retryable: false, title: 'The package asks for more than it may have without consent' },
  LIMIT_ABOVE_CEILING: { status: 403, exit: 6, retryable: false, title: "A limit is above the operator's ceiling" },
  LIMIT_NOT_ENFORCED: { status: 409, exit: 6, retryable: false, title: 'A limit could not be enforced' },
  NETWORK_UNSUPPORTED: { status: 409, exit: 6, retryable: false, title: 'The network policy cannot be enforced here' },
  MOUNT_REFUSED: { status: 403, exit: 6, retryable: false, title: 'The mount is not allowed' },
  ENV_MISSING: { status: 409, exit: 6, retryable: false, title: 'A required value is missing' },
  TYPE_NOT_HOSTED: { status: 501, exit: 6, retryable: false, title: 'This daemon does not host packages of this type' },
  DRIVER_UNAVAILABLE: { status: 503, exit: 1, retryable: true, title: 'No sandbox driver can run here' },
  ENGINE_UNREACHABLE: { status: 503, exit: 1, retryable: true, title: 'The container engine does not answer' },
  IMAGE_UNAVAILABLE: { status: 502, exit: 1, retryable: true, title: 'The runtime image can be neither pulled nor built' },
  SANDBOX_NOT_FOUND: { status: 404, exit: 4, retryable: false, title: 'The sandbox no longer exists' },
  COMMAND_NOT_FOUND: { status: 422, exit: 5, retryable: false, title: "The package's command is not in its image" },
  START_FAILED: { status: 502, exit: 1, retryable: true, title: 'The package ended before it was ready' },
  HANDSHAKE_TIMEOUT: { status: 504, exit: 7, retryable: true, title: 'The package did not become ready in time' },
  PROTOCOL_ERROR: { status: 502, exit: 1, retryable: false, title: 'The package broke its protocol' },
  UPSTREAM_ERROR: { status: 502, exit: 1, retryable: false, title: 'The package answered with an error' },
  PACKAGE_CRASHED: { status: 502, exit: 1, retryable: true, title: 'The package died during the call' },
  NOT_RUNNING: { status: 409, exit: 1, retryable: false, title: 'The package is not running' },
  FRAME_TOO_LARGE: { status: 502, exit: 1, retryable: false, title: 'A message is larger than the limit' },
  CALL_TIMEOUT: { status: 504, exit: 7, retryable: true, title: 'The call took too long and was cancelled' },
  STOP_TIMEOUT: { status: 504, exit: 7, retryable: true, title: 'The package could not be stopped in time' },
  OPERATION_CANCELLED: { status: 409, exit: 130, retryable: true, title: 'The operation was cancelled' },
  CONFLICT: { status: 409, exit: 1, retryable: true, title: 'The package is not in a state that allows this' },
  DISK_FULL: { status: 507, exit: 1, retryable: true, title: 'The disk is full' },
  STATE_TOO_NEW: { status: 500, exit: 1, retryable: false, title: 'The state database was written by a newer pkgd' },
  STATE_DAMAGED: { status: 500, exit: 1, retryable: false, title: 'The state database is damaged' },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorTable

/** One problem at a place in a document. `pointer` is an RFC 6901 JSON pointer ("" is the whole document). */
export interface Issue {
  readonly pointer: string
  readonly message: string
  /** The rule that was broken, e.g. a JSON Schema keyword. */
  readonly rule?: string
  /** What to do about it. */
  readonly fix?: string
}

export interface PkgdErrorOptions {
  readonly hint?: string
  readonly issues?: readonly Issue[]
  readonly cause?: unknown
}

/** An error with a stable code. Its message is for the user: it names the thing and the rule; `hint` is the fix. */
export class PkgdError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly issues: readonly Issue[]

  constructor(code: ErrorCode, message: string, options: PkgdErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'PkgdError'
    this.code = code
    this.hint = options.hint
    this.issues = options.issues ?? []
  }
}

export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(errorTable, code)

/** The first error along the `cause` chain whose code is in the table, or undefined. Told by `code`, not by class. */
export function findCoded(error: unknown): PkgdError | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 16; at = at.cause, depth++) {
    if (isErrorCode((at as { code?: unknown }).code)) return at as PkgdError
  }
  return undefined
}

/** Whether `code` (one of the table's or of the system's, such as `ENOENT`) stands anywhere along the `cause` chain. */
export function hasCode(error: unknown, code: string): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 16; at = at.cause, depth++) {
    if ((at as { code?: unknown }).code === code) return true
  }
  return false
}

/** Any thrown value as a PkgdError: coded errors as they are, a full disk as DISK_FULL, the rest as INTERNAL with its cause. */
export function toPkgdError(error: unknown): PkgdError {
  const coded = findCoded(error)
  if (coded) return coded
  if (hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT') || hasCode(error, 'ERR_SQLITE_FULL')) {
    return new PkgdError('DISK_FULL', 'No space is left on the disk', { cause: error, hint: 'free some space and try again' })
  }
  return new PkgdError('INTERNAL', error instanceof Error ? error.message : String(error), { cause: error })
}

const packageFaults: ReadonlySet<ErrorCode> = new Set([
  'START_FAILED',
  'COMMAND_NOT_FOUND',
  'HANDSHAKE_TIMEOUT',
  'PROTOCOL_ERROR',
  'UPSTREAM_ERROR',
  'PACKAGE_CRASHED',
  'FRAME_TOO_LARGE',
  'CALL_TIMEOUT',
])

/** Whether a package is to blame, not pkgd: then the message says all, and where in pkgd it came up says nothing. */
export const isPackageFault = (code: ErrorCode): boolean => packageFaults.has(code)

/** The compile-time proof that a switch is exhaustive. */
export function assertNever(value: never): never {
  throw new PkgdError('INTERNAL', `Unexpected value: ${JSON.stringify(value)}`)
}
