import { locateHome } from '../daemon/core/home.ts'
import { runCli } from './runCli.ts'

process.exitCode = await runCli(process.argv.slice(2), locateHome())
