import { readFileSync } from 'node:fs'
import { execa } from 'execa'

/** `npm run check`: everything a reviewer would run, in the order in which it fails fastest. `--static` leaves the tests out. */
const steps: readonly { readonly name: string; readonly argv: readonly [string, ...string[]] }[] = [
  { name: 'types', argv: ['tsc', '--noEmit'] },
  { name: 'lint', argv: ['biome', 'ci', '.', '--reporter=summary'] },
  { name: 'unused code', argv: ['knip'] },
]
const covered = ['registry', 'sandbox', 'daemon']
const leastLines = 90

for (const { name, argv } of steps) {
  console.log(`\n== ${name}: ${argv.join(' ')}`)
  const [command, ...args] = argv
  const { exitCode } = await execa(command, args, { preferLocal: true, stdio: 'inherit', reject: false })
  if (exitCode !== 0) process.exit(1)
}

if (!process.argv.includes('--static')) {
  console.log('\n== layers, unit, contract, api: with line coverage')
  const projects = ['architecture', 'unit', 'contract', 'api'].flatMap((name) => ['--project', name])
  const { exitCode } = await execa('vitest', ['run', '--coverage', ...projects], {
    preferLocal: true,
    stdio: 'inherit',
    reject: false,
  })
  const low = Object.entries(lineCoverage()).filter(([folder, percent]) => {
    console.log(`coverage of ${folder}/: ${percent.toFixed(1)} % of lines (at least ${leastLines})`)
    return percent < leastLines
  })
  if (exitCode !== 0 || low.length > 0) process.exit(1)
}

/** Line coverage a folder, percent, from vitest's json-summary. */
function lineCoverage(): Record<string, number> {
  const summary: Record<string, { lines: { total: number; covered: number } }> = JSON.parse(
    readFileSync('coverage/coverage-summary.json', 'utf8'),
  )
  return Object.fromEntries(
    covered.map((folder) => {
      const files = Object.entries(summary).filter(([file]) => file.startsWith(`${process.cwd()}/${folder}/`))
      const total = files.reduce((sum, [, { lines }]) => sum + lines.total, 0)
      const hit = files.reduce((sum, [, { lines }]) => sum + lines.covered, 0)
      return [folder, total === 0 ? 0 : (100 * hit) / total]
    }),
  )
}
