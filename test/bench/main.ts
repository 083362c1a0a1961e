import { readdirSync } from 'node:fs'

/** `npm run bench -- <name>...`: runs the benchmarks named, or lists them. Each file beside this one exports `title` and `run()`. */
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts' && !file.startsWith('_'))
  .map((file) => file.slice(0, -'.ts'.length))

const load = async (name: string): Promise<{ title: string; run(): Promise<void> }> => import(`./${name}.ts`)

const asked = process.argv.slice(2)
if (asked.length === 0) {
  console.log('usage: npm run bench -- <name>... | all\n')
  for (const name of names) console.log(`  ${name.padEnd(14)} ${(await load(name)).title}`)
}
for (const name of asked.includes('all') ? names : asked) {
  if (!names.includes(name)) {
    console.error(`No benchmark ${name}; there are: ${names.join(', ')}`)
    process.exitCode = 2
    continue
  }
  const { title, run } = await load(name)
  console.log(`\n${name}: ${title}`)
  await run()
}
