/** Whether a release version such as `3.12.4` satisfies PEP 440 specifiers such as `>=3.11,<4,!=3.12.1`. An interpreter's version has no pre-release. */
export function satisfiesPythonRange(version: string, range: string): boolean {
  return range
    .split(',')
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
    .every((clause) => satisfiesClause(version, clause))
}

function satisfiesClause(version: string, clause: string): boolean {
  const [, operator, wanted = ''] = /^(===|==|!=|<=|>=|<|>|~=)\s*v?(.+)$/.exec(clause) ?? []
  const order = compareReleases(version, wanted)
  switch (operator) {
    case '>=':
      return order >= 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '<':
      return order < 0
    case '==':
      return matches(version, wanted)
    case '!=':
      return !matches(version, wanted)
    case '===':
      return version === wanted
    case '~=':
      return order >= 0 && hasPrefix(version, wanted.split('.').slice(0, -1))
    default:
      return false
  }
}

const matches = (version: string, wanted: string): boolean =>
  wanted.endsWith('.*') ? hasPrefix(version, wanted.slice(0, -2).split('.')) : compareReleases(version, wanted) === 0

const numbersOf = (version: string): number[] => version.split('.').map((part) => Number.parseInt(part, 10) || 0)

function compareReleases(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)]
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const hasPrefix = (version: string, prefix: readonly string[]): boolean => {
  const numbers = numbersOf(version)
  return prefix.every((part, at) => (numbers[at] ?? 0) === (Number.parseInt(part, 10) || 0))
}
