import { nearestKey } from '../../registry/manifest/nearestKey.ts'
import { type ErrorCode, PkgdError } from '../core/errors.ts'

interface NotFound {
  readonly code: ErrorCode
  readonly message: string
  /** What was asked for. */
  readonly name: string
  /** What there is. */
  readonly known: readonly string[]
  /** The hint when there is nothing. */
  readonly none?: string
  readonly cause?: unknown
}

const shown = 12

/** The error for a name that nothing has: it hints at the name that was meant, or names the nearest and what else there is. */
export function toNotFound({ code, message, name, known, none = 'there are none', cause }: NotFound): PkgdError {
  const nearest = nearestKey(name, known)
  const names = known.length > shown ? `${known.slice(0, shown).join(', ')}, …` : known.join(', ')
  const hint =
    nearest === undefined ? none : nearest.close ? `did you mean ${nearest.key}?` : `the nearest is ${nearest.key}; there are ${names}`
  return new PkgdError(code, message, { hint, ...(cause === undefined ? {} : { cause }) })
}

export const toPackageNotFound = (id: string, installed: readonly string[]): PkgdError =>
  toNotFound({
    code: 'PACKAGE_NOT_FOUND',
    message: `No package ${id} is installed`,
    name: id,
    known: installed,
    none: 'nothing is installed yet: pkg install <spec>',
  })
