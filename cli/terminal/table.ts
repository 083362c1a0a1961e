/** Aligned columns, two spaces apart; no trailing blanks. An empty list is `empty`. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[], empty: string): string {
  if (rows.length === 0) return empty
  const lines = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ''))))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** `key  value` pairs, values aligned; pairs whose value is undefined are left out. */
export function toPairs(pairs: readonly (readonly [string, string | undefined])[]): string {
  const shown = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined)
  const column = Math.max(0, ...shown.map(([key]) => key.length))
  return shown.map(([key, value]) => `${key.padEnd(column)}  ${value.replaceAll('\n', `\n${' '.repeat(column + 2)}`)}`).join('\n')
}

const width = (text: string) => [...text].length
