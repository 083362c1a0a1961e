import type { ErrorObject } from 'ajv'
import { toSchemaIssues } from '../config/toSchemaIssue.ts'
import { PkgdError, toPkgdError } from '../core/errors.ts'

interface FastifyFailure {
  readonly code?: string
  readonly message?: string
  readonly validation?: readonly ErrorObject[]
  readonly validationContext?: string
}

const places: Readonly<Record<string, string>> = {
  body: 'The body',
  querystring: 'The query',
  params: 'The path',
  headers: 'A header',
}

function fromValidation({ validation = [], validationContext = 'body' }: FastifyFailure): PkgdError {
  const issues = toSchemaIssues(validation)
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  const place = places[validationContext] ?? 'The request'
  return new PkgdError(
    'USAGE',
    `${place} is not of the expected form: ${first?.pointer ? `${first.pointer} ` : ''}${first?.message}${more}`,
    {
      issues,
      ...(first?.fix === undefined ? {} : { hint: first.fix }),
    },
  )
}

/** Whatever a request ended with as an error of the table: the framework's own refusals are told as what the caller did wrong. */
export function toRequestError(thrown: unknown, bodyLimit: number): PkgdError {
  if (!(thrown instanceof Error)) return toPkgdError(thrown)
  const failure = thrown as FastifyFailure
  if (failure.validation) return fromValidation(failure)
  switch (failure.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new PkgdError('BODY_TOO_LARGE', `The body is larger than ${bodyLimit} bytes`, {
        hint: 'limits.frame in pkgd.yaml is the bound',
      })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new PkgdError('USAGE', 'The body is not JSON by its content type', { hint: 'send content-type: application/json' })
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new PkgdError('USAGE', `The body cannot be read: ${thrown.message}`)
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new PkgdError('USAGE', 'A part of the path is longer than any name')
    case 'FST_ERR_BAD_URL':
      return new PkgdError('USAGE', 'The URL cannot be read')
  }
  if (thrown instanceof SyntaxError && 'statusCode' in thrown) return new PkgdError('USAGE', `The body is not JSON: ${thrown.message}`)
  return toPkgdError(thrown)
}
