/** A version of a Python package (PEP 440), taken apart. Missing parts compare as the specification says. */
export interface PythonVersion {
  readonly text: string
  readonly epoch: number
  readonly release: readonly number[]
  readonly pre: readonly [phase: number, number: number] | null
  readonly post: number | null
  readonly dev: number | null
  readonly local: readonly (string | number)[]
}

const versionForm =
  /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d*))?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/

const phases: Readonly<Record<string, number>> = { a: 0, alpha: 0, b: 1, beta: 1, c: 2, rc: 2, pre: 2, preview: 2 }

/** Undefined for what is no version. */
export function parsePythonVersion(text: string): PythonVersion | undefined {
  const match = versionForm.exec(text.trim().toLowerCase())
  if (!match) return undefined
  const [, epoch, release = '', phase, preNumber, shortPost, post, postNumber, dev, devNumber, local] = match
  return {
    text: text.trim(),
    epoch: Number(epoch ?? 0),
    release: release.split('.').map(Number),
    pre: phase === undefined ? null : [phases[phase] ?? 2, Number(preNumber || 0)],
    post: shortPost !== undefined ? Number(shortPost) : post === undefined ? null : Number(postNumber || 0),
    dev: dev === undefined ? null : Number(devNumber || 0),
    local: local === undefined ? [] : local.split(/[-_.]/).map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  }
}

export const isPythonPrerelease = (version: PythonVersion): boolean => version.pre !== null || version.dev !== null

/** Negative, zero or positive: the order of PEP 440. `1.0.dev1 < 1.0a1 < 1.0rc1 < 1.0 < 1.0+local < 1.0.post1`. */
export function comparePythonVersions(left: PythonVersion, right: PythonVersion): number {
  return comparePublic(left, right) || compareLocal(left.local, right.local)
}

function comparePublic(left: PythonVersion, right: PythonVersion): number {
  return (
    left.epoch - right.epoch ||
    compareRelease(left.release, right.release) ||
    comparePairs(toPreRank(left), toPreRank(right)) ||
    (left.post ?? -1) - (right.post ?? -1) ||
    compareNumbers(left.dev ?? Number.POSITIVE_INFINITY, right.dev ?? Number.POSITIVE_INFINITY)
  )
}

/** A development release of the final version comes before its pre-releases, a final version after them. */
function toPreRank({ pre, post, dev }: PythonVersion): readonly [number, number] {
  if (pre) return pre
  return post === null && dev !== null ? [-1, 0] : [9, 0]
}

const compareNumbers = (left: number, right: number): number => (left === right ? 0 : left < right ? -1 : 1)

const comparePairs = (left: readonly [number, number], right: readonly [number, number]): number => left[0] - right[0] || left[1] - right[1]

function compareRelease(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Numbers after texts, more segments after fewer. */
function compareLocal(left: PythonVersion['local'], right: PythonVersion['local']): number {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const [one, other] = [left[index], right[index]]
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1
    if (one === other) continue
    if (typeof one === 'number') return typeof other === 'number' ? one - other : 1
    return typeof other === 'number' || one < other ? -1 : 1
  }
  return 0
}

interface Clause {
  readonly operator: string
  readonly operand: string
  readonly version: PythonVersion
  readonly wildcard: boolean
}

/** Version specifiers (`>=1.0,!=1.5.*`); the empty text allows everything. Undefined for what is none. */
export function parseSpecifiers(text: string): readonly Clause[] | undefined {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const clauses = parts.map(parseClause)
  return clauses.every((clause) => clause !== undefined) ? clauses : undefined
}

function parseClause(text: string): Clause | undefined {
  const [, operator, operand] = /^(===|~=|==|!=|<=|>=|<|>)\s*(\S+)$/.exec(text) ?? []
  if (operator === undefined || operand === undefined) return undefined
  const wildcard = operand.endsWith('.*')
  if (wildcard && operator !== '==' && operator !== '!=') return undefined
  const version = parsePythonVersion(wildcard ? operand.slice(0, -2) : operand)
  if (!version || (operator === '~=' && version.release.length < 2)) return undefined
  // Only equality may name a local version.
  if (version.local.length > 0 && !['==', '!=', '==='].includes(operator)) return undefined
  return { operator, operand, version, wildcard }
}

/** Whether specifiers name a pre-release, which allows them (PEP 440, "Handling of pre-releases"). */
export const namesPrerelease = (clauses: readonly Clause[]): boolean =>
  clauses.some(({ operator, version }) => operator !== '!=' && isPythonPrerelease(version))

export const satisfiesSpecifiers = (version: PythonVersion, clauses: readonly Clause[]): boolean =>
  clauses.every((clause) => satisfies(version, clause))

function satisfies(version: PythonVersion, clause: Clause): boolean {
  const { operator, operand, version: wanted } = clause
  // Only an operand with a local version of its own sees the candidate's.
  const compared = comparePublic(version, wanted)
  switch (operator) {
    case '===':
      return version.text.toLowerCase() === operand.toLowerCase()
    case '==':
      return equals(version, clause)
    case '!=':
      return !equals(version, clause)
    case '<=':
      return compared <= 0
    case '>=':
      return compared >= 0
    case '<':
      // Not a pre-release of the very version that is excluded.
      return compared < 0 && (isPythonPrerelease(wanted) || !isPythonPrerelease(version) || !sameRelease(version, wanted))
    case '>':
      // Nor a post-release of it, unless one was named, nor a local version of it.
      return (
        compared > 0 && ((version.local.length === 0 && (wanted.post !== null || version.post === null)) || !sameRelease(version, wanted))
      )
    case '~=': {
      const prefix = { ...wanted, release: wanted.release.slice(0, -1) }
      return compared >= 0 && hasPrefix(version, prefix)
    }
    default:
      return false
  }
}

function equals(version: PythonVersion, { version: wanted, wildcard }: Clause): boolean {
  if (wildcard) return hasPrefix(version, wanted)
  return comparePublic(version, wanted) === 0 && (wanted.local.length === 0 || compareLocal(version.local, wanted.local) === 0)
}

const sameRelease = (left: PythonVersion, right: PythonVersion): boolean =>
  left.epoch === right.epoch && compareRelease(left.release, right.release) === 0

const hasPrefix = (version: PythonVersion, prefix: PythonVersion): boolean =>
  version.epoch === prefix.epoch && prefix.release.every((part, index) => (version.release[index] ?? 0) === part)
