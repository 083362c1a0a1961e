import type { ValidateFunction } from 'ajv/dist/2020.js'
import semver from 'semver'
import { type Issue, PkgdError } from '../../daemon/core/errors.ts'
import { loadAjv2020 } from '../manifest/loadAjv.ts'
import type { LockedPackage, Lockfile } from './lockfile.ts'
import { lockfileSchema } from './lockfileSchema.ts'

/** `pkgd.lock` as it is written. */
interface LockfileText {
  readonly lockfile_version: 1
  readonly packages: Readonly<Record<string, LockedPackage>>
}

let compiled: ValidateFunction<LockfileText> | undefined

function validator(): ValidateFunction<LockfileText> {
  if (compiled) return compiled
  const ajv = new (loadAjv2020())({ strict: true, allErrors: true, discriminator: true })
  ajv.addFormat('semver', { type: 'string', validate: (text) => semver.valid(text) !== null })
  ajv.addFormat('semver-range', { type: 'string', validate: (text) => semver.validRange(text) !== null })
  compiled = ajv.compile<LockfileText>(lockfileSchema)
  return compiled
}

const damaged = (place: string, why: string, options: { issues?: Issue[]; cause?: unknown } = {}) =>
  new PkgdError('LOCKFILE_DAMAGED', `${place} ${why}`, {
    hint: 'restore it from a backup; an install without --frozen sets it aside and makes it anew from what is installed',
    ...options,
  })

/** The lockfile in a text. Throws LOCKFILE_DAMAGED with every issue; `place` names the file in messages. */
export function parseLockfile(text: string, place: string): Lockfile {
  const document = readJson(text, place)
  const validate = validator()
  if (validate(document)) return { lockfileVersion: 1, packages: document.packages }
  const version =
    typeof document === 'object' && document !== null && 'lockfile_version' in document ? document.lockfile_version : undefined
  if (typeof version === 'number' && version > 1) throw damaged(place, `is of version ${version}, which a newer pkgd wrote`)
  const issues = (validate.errors ?? []).map((error) => ({
    pointer: error.instancePath,
    message: error.message ?? 'is not valid',
    rule: error.keyword,
  }))
  throw damaged(place, `is damaged: ${issues[0]?.pointer || '(document)'} ${issues[0]?.message ?? ''}`.trimEnd(), { issues })
}

function readJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damaged(place, 'is damaged: it is not JSON', { cause: error })
  }
}
