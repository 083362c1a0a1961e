import { PkgdError } from '../../daemon/core/errors.ts'

/** The error for a spec that cannot be read: what it is, what is wrong with it, what to write instead. */
export const specError = (spec: string, problem: string, hint: string): PkgdError =>
  new PkgdError('SPEC_INVALID', `The spec "${withoutPassword(spec)}" cannot be read: ${problem.startsWith('"') ? '' : 'it '}${problem}`, {
    hint,
  })

/** Addresses are shown without what stands before their host. */
const withoutPassword = (spec: string): string => spec.replace(/(\/\/[^/@:\s]*):[^/@\s]*@/g, '$1:***@')
