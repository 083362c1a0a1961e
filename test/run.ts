import { startVitest } from 'vitest/node'
import { provisionEngine } from './provision/provisionEngine.ts'
import { createTallyReporter } from './provision/tallyReporter.ts'

/** `npm test`: the whole suite, real containers included. Arguments are vitest's filters, or `--project name`. */
const say = (line: string) => console.log(`pkgd: ${line}`)
const engine = await provisionEngine(say)
say(engine.driver === null ? `no sandbox can run here: ${engine.remark}` : `sandboxes run on ${engine.driver}: ${engine.remark}`)
if (engine.driver !== 'docker' && process.env.PKGD_REQUIRE_ENGINE === '1') {
  say('PKGD_REQUIRE_ENGINE=1 and no container engine: failing')
  console.log('0 passed, 1 failed, 0 skipped')
  process.exit(1)
}

const args = process.argv.slice(2)
const projects = args.flatMap((arg, index) => (args[index - 1] === '--project' ? [arg] : []))
const filters = args.filter((arg, index) => arg !== '--project' && args[index - 1] !== '--project')
const tally = createTallyReporter()
const vitest = await startVitest('test', filters, {
  run: true,
  watch: false,
  reporters: ['default', tally.reporter],
  ...(projects.length > 0 ? { project: projects } : {}),
})
await vitest.close()
process.exitCode = tally.close(say)
