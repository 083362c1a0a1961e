import { findCoded, type Issue, PkgdError } from './errors.ts'
import type { Logger } from './ports.ts'

/** Takes the values of secrets out of what is shown, logged or kept. What holds none comes back as it is. */
export interface Redactor {
  text(text: string): string
  /** Every text inside a JSON-like value, keys included. */
  value<T>(value: T): T
  /** The error's code stays; its message, hint, issues, stack and causes are cleaned. */
  error<T>(error: T): T
  /** A logger whose messages and fields are cleaned. */
  logger(log: Logger): Logger
}

const mark = '[secret]'

/** A shorter value is taken out only where it stands alone: everywhere, it would leave nothing to read. */
const shortest = 4
/** A shorter line of a value of many lines tells nothing: `}`, `-----`. */
const shortestLine = 8
const deepest = 16

const toLiteral = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** The value as it may stand in a text: plain, inside JSON, inside a URL, as base64, or one of its lines. */
function toForms(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '')
  const forms = [
    value,
    value.trim(),
    JSON.stringify(value).slice(1, -1),
    encodeURI(value.toWellFormed()),
    encodeURIComponent(value.toWellFormed()),
  ]
  if (value.length >= shortest) forms.push(base64, base64.replaceAll('+', '-').replaceAll('/', '_'))
  if (lines.length > 1) forms.push(...lines.filter((line) => line.length >= shortestLine))
  return forms.filter((form) => form.trim() !== '')
}

function toPattern(values: readonly string[]): RegExp | undefined {
  const forms = [...new Set(values.flatMap(toForms))].sort((a, b) => b.length - a.length)
  if (forms.length === 0) return undefined
  const sources = forms.map((form) =>
    form.length < shortest ? `(?<![\\p{L}\\p{N}])${toLiteral(form)}(?![\\p{L}\\p{N}])` : toLiteral(form),
  )
  return new RegExp(sources.join('|'), 'gu')
}

export function createRedactor(values: readonly string[]): Redactor {
  const pattern = toPattern(values)
  const text = (given: string): string => (pattern ? given.replace(pattern, mark) : given)

  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return text(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > deepest) return mark
    if (value instanceof Error) return cleanError(value, depth)
    if (Array.isArray(value)) {
      const items = value.map((item) => clean(item, depth + 1))
      return items.every((item, index) => item === value[index]) ? value : items
    }
    const before = Object.entries(value)
    const after = before.map(([key, item]): [string, unknown] => [text(key), clean(item, depth + 1)])
    const same = after.every(([key, item], index) => key === before[index]?.[0] && item === before[index][1])
    return same ? value : Object.fromEntries(after)
  }

  const cleanError = (error: Error, depth: number): Error => {
    const { message, stack, cause, ...rest } = { ...error, message: error.message, stack: error.stack, cause: error.cause }
    const parts = { message, stack, cause, rest }
    const cleaned = clean(parts, depth + 1) as typeof parts
    return cleaned === parts ? error : toCopy(error, cleaned)
  }

  if (!pattern) return { text, value: (value) => value, error: (error) => error, logger: (log) => log }
  const redactor: Redactor = {
    text,
    value: <T>(value: T) => clean(value, 0) as T,
    error: <T>(error: T) => clean(error, 0) as T,
    logger(log) {
      const at =
        (level: 'debug' | 'info' | 'warn' | 'error'): Logger['info'] =>
        (message, fields) =>
          log[level](text(message), fields && (clean(fields, 0) as typeof fields))
      return {
        debug: at('debug'),
        info: at('info'),
        warn: at('warn'),
        error: at('error'),
        child: (fields) => redactor.logger(log.child(clean(fields, 0) as typeof fields)),
      }
    },
  }
  return redactor
}

interface ErrorParts {
  readonly message: string
  readonly stack: string | undefined
  readonly cause: unknown
  readonly rest: Readonly<Record<string, unknown>>
}

/** The same error with other texts: its code, its issues and the protocol's own data stay where they were. */
function toCopy(error: Error, { message, stack, cause, rest }: ErrorParts): Error {
  const coded = findCoded(error) === error ? (error as PkgdError) : undefined
  const { hint, issues, name, ...others } = rest as { hint?: string; issues?: readonly Issue[]; name?: string }
  const copy = coded
    ? new PkgdError(coded.code, message, {
        ...(cause === undefined ? {} : { cause }),
        ...(hint === undefined ? {} : { hint }),
        ...(issues === undefined ? {} : { issues }),
      })
    : Object.assign(new Error(message, cause === undefined ? undefined : { cause }), others, { name: error.name })
  if (stack !== undefined) copy.stack = stack
  return copy
}
