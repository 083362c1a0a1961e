import { parsePythonVersion, parseSpecifiers, satisfiesSpecifiers } from '../../../registry/fetch/pypi/pep440.ts'

/** Whether a Python version is in a PEP 440 range; what cannot be read is in none. */
export function satisfiesPythonRange(version: string, range: string): boolean {
  const parsed = parsePythonVersion(version)
  const clauses = parseSpecifiers(range)
  return parsed !== undefined && clauses !== undefined && satisfiesSpecifiers(parsed, clauses)
}
