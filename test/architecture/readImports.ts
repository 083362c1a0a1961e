/** One import of a source file. */
export interface Import {
  readonly specifier: string
  /** Whether it is gone at run time (`import type`). */
  readonly typeOnly: boolean
  /** `import()` and `require()`: loaded when it is reached, not with the file. */
  readonly dynamic: boolean
  /** What is imported by name, without `type` and `as`; empty for the whole module. */
  readonly names: readonly string[]
  readonly line: number
}

/** The source with comments, regular expressions, template literals and quoted code blanked, every line where it was. */
function blankComments(source: string): string {
  const token =
    /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/g
  return source.replace(token, (found, at: number) => {
    // A string that holds quotes or calls is no specifier; what is written in it is no import.
    if (/^['"]/.test(found)) return /['"()]/.test(found.slice(1, -1)) ? `${found[0]}${' '.repeat(found.length - 2)}${found.at(-1)}` : found
    // A slash after a value divides; only what cannot follow a value begins a regular expression.
    if (
      /^\/[^*/]/.test(found) &&
      /[\w)\]}'"`]\s*$/.test(source.slice(Math.max(0, at - 40), at)) &&
      !/\b(return|case|of|in|typeof)\s*$/.test(source.slice(Math.max(0, at - 40), at))
    )
      return found
    return found.replace(/[^\n]/g, ' ')
  })
}

const statement = /^[ \t]*(?:import|export)\b(?<clause>[^;'"=()]*?)\bfrom\s*(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>/gm
const bare = /^[ \t]*import\s*(['"])(?<specifier>[^'"\n]+)\1/gm
const call = /(?<kind>typeof\s+import|\bimport|\brequire|\brequire\.resolve)\s*\(\s*(['"])(?<specifier>[^'"\n]+)\2/g

/** Every import and re-export of a TypeScript source, static, dynamic and type-only. */
export function readImports(source: string): Import[] {
  const code = blankComments(source)
  const lineOf = (index: number | undefined) => code.slice(0, index ?? 0).split('\n').length
  const found = (expression: RegExp, toImport: (groups: Record<string, string | undefined>) => Omit<Import, 'line' | 'specifier'>) =>
    [...code.matchAll(expression)].map((match) => {
      const groups = match.groups ?? {}
      const indent = match[0].length - match[0].trimStart().length
      return { ...toImport(groups), specifier: groups.specifier ?? '', line: lineOf((match.index ?? 0) + indent) }
    })
  return [
    ...found(statement, ({ clause = '' }) => ({ ...readClause(clause), dynamic: false })),
    ...found(bare, () => ({ typeOnly: false, names: [], dynamic: false })),
    ...found(call, ({ kind = '' }) => ({ typeOnly: kind.startsWith('typeof'), names: [], dynamic: true })),
  ].sort((a, b) => a.line - b.line)
}

function readClause(clause: string): Pick<Import, 'typeOnly' | 'names'> {
  const inner = /\{([\s\S]*)\}/.exec(clause)?.[1]
  const items = (inner ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
  const outside = clause.replace(/\{[\s\S]*\}/, '').replace(/[\s,]/g, '')
  const everyItemIsType = inner !== undefined && items.length > 0 && outside === '' && items.every((item) => /^type\s/.test(item))
  return {
    typeOnly: /^\s*type\b(?!\s*,)/.test(clause) || everyItemIsType,
    names: items.map((item) => item.replace(/^type\s+/, '').split(/\s+as\s+/)[0] ?? ''),
  }
}
