import { mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { locateHome } from '../daemon/core/home.ts'

/** Compiled code is kept in the home, so that a command costs little more than starting Node. */
const home = locateHome()
try {
  mkdirSync(home.root, { recursive: true, mode: 0o700 })
  enableCompileCache(join(home.cache, 'compile'))
} catch (error) {
  process.stderr.write(`pkg: cannot use ${home.root}: ${error instanceof Error ? error.message : String(error)}\n`)
}
const { runCli } = await import('./runCli.ts')
process.exitCode = await runCli(process.argv.slice(2), home)
