import { parsePythonVersion, parseSpecifiers, satisfiesSpecifiers } from './pep440.ts'

/** Whether the text is a list of PEP 440 version specifiers joined by commas, with at least one in it. */
export const isPythonRange = (text: string): boolean => (parseSpecifiers(text) ?? []).length > 0

/** Whether a Python version is in a PEP 440 range; what cannot be read is in none. */
export function satisfiesPythonRange(version: string, range: string): boolean {
  const parsed = parsePythonVersion(version)
  const clauses = parseSpecifiers(range)
  return parsed !== undefined && clauses !== undefined && satisfiesSpecifiers(parsed, clauses)
}
