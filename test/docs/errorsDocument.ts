import { type ErrorRow, errorTable } from '../../daemon/core/errors.ts'

/** What each exit code of the CLI means, in the order of the codes. */
const exits: Readonly<Record<number, string>> = {
  1: 'the operation failed',
  2: "usage, or arguments that break a tool's schema",
  3: 'the daemon cannot be reached',
  4: 'not found',
  5: 'invalid manifest, spec, archive or plan',
  6: 'refused by policy, limit, consent or missing value',
  7: 'timed out',
  130: 'interrupted',
}

const intro = `<!-- Generated from daemon/core/errors.ts by \`npm run docs\`. -->

# Errors

Every error of pkgd has a code that stays the same. The CLI prints \`error CODE: message\` and, where there is one, \`hint: …\` on stderr and exits with the
number below. REST answers \`application/problem+json\` with the HTTP status, the code in \`code\`, the hint in \`hint\` and, for documents, every problem with
its JSON pointer in \`errors\`. *Retry* says whether the same request may succeed later, unchanged.`

/** docs/errors.md: a section an exit code, a row an error. */
export function errorsDocument(table: Readonly<Record<string, ErrorRow>> = errorTable): string {
  const rows = Object.entries(table)
  const sections = [...new Set(rows.map(([, row]) => row.exit))]
    .sort((a, b) => a - b)
    .map((exit) => {
      const own = rows.filter(([, row]) => row.exit === exit)
      const lines = own.map(([code, row]) => `| \`${code}\` | ${row.title} | ${row.status} | ${row.retryable ? 'yes' : 'no'} |`)
      return `## Exit ${exit}: ${exits[exit] ?? 'other'}\n\n| Code | Meaning | HTTP | Retry |\n| --- | --- | --- | --- |\n${lines.join('\n')}`
    })
  return `${[intro, ...sections].join('\n\n')}\n`
}
