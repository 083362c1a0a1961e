import type { Issue } from '../core/errors.ts'
import { interpolate } from './interpolate.ts'

/** An unquoted value that a variable was put into is read as YAML reads it: a number, a truth value, else text. */
function toScalar(text: string): unknown {
  if (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}

/** Keys and values of a YAML text, variables put in after parsing, so that no value can change the document's form. */
export async function readDocument(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly document: unknown; readonly issues: readonly Issue[] }> {
  // Most homes have no configuration: they do not pay for the parser.
  const { isPair, isScalar, LineCounter, parseDocument, visit } = await import('yaml')
  const lines = new LineCounter()
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  if (yaml.errors.length > 0) {
    const issues = yaml.errors.map(({ message, pos }): Issue => {
      const { line, col } = lines.linePos(pos[0])
      return { pointer: '', message: `line ${line}, column ${col}: ${message}`, rule: 'yaml' }
    })
    return { document: undefined, issues }
  }
  const issues: Issue[] = []
  visit(yaml, {
    Scalar(key, node, path) {
      if (key === 'key' || typeof node.value !== 'string') return
      const filled = interpolate(node.value, variables)
      const place = path.flatMap((parent) => (isPair(parent) && isScalar(parent.key) ? [`/${String(parent.key.value)}`] : [])).join('')
      for (const name of filled.missing) {
        const fix = `set ${name} in the environment or in $PKGD_HOME/.env, or write \${${name}:-default}`
        issues.push({ pointer: place, message: `the variable ${name} is not set`, rule: 'variable', fix })
      }
      if (filled.text !== node.value) node.value = node.type === 'PLAIN' ? toScalar(filled.text) : filled.text
    },
  })
  return { document: yaml.toJS({ maxAliasCount: 100 }) ?? {}, issues }
}
