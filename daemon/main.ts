import { closeSync, writeFileSync, writeSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { errorTable, toPkgdError } from './core/errors.ts'
import { locateHome } from './core/home.ts'
import { closeInheritedDescriptors } from './core/inheritedDescriptors.ts'

const usage = `usage: pkgd [--help | --version]

Runs the daemon in the foreground until SIGTERM or SIGINT; packages go on without it.
It is configured by $PKGD_HOME/pkgd.yaml and by PKGD_HOME, PKGD_PORT, PKGD_DRIVER, PKGD_LOG and PKGD_TOKEN.
`

/** Where whoever started the daemon in the background hears of it; at most stderr when nobody does. */
const readyDescriptor = Number(process.env.PKGD_READY_FD ?? 0)

/** Tells whoever started the daemon in the background that it is ready, or why it is not: one JSON line on the descriptor that they named. */
function tellStarter(readiness: object): void {
  const descriptor = readyDescriptor
  if (!Number.isInteger(descriptor) || descriptor < 3) return
  writeSync(descriptor, `${JSON.stringify(readiness)}\n`)
  closeSync(descriptor)
}

/** Resolves at the first signal that asks the process to end; the second one ends it at once. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1)
        asked = true
        resolve(signal)
      })
    }
  })
}

/** Loads all that a daemon may load, so that its compiled form is kept; the next start finds it there. */
async function prepare(): Promise<number> {
  await import('./createDaemon.ts')
  await import('./log/createLogger.ts')
  const { loadDrivers } = await import('./compose/openDriver.ts')
  await loadDrivers()
  flushCompileCache()
  const directory = process.env.NODE_COMPILE_CACHE
  if (directory) writeFileSync(join(directory, 'daemon-prepared'), '')
  return 0
}

async function run(args: readonly string[]): Promise<number> {
  closeInheritedDescriptors([readyDescriptor])
  const home = locateHome()
  // Compiled code is kept, so that the next start is quick.
  enableCompileCache(join(home.cache, 'compiled'))
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } })
  const { version } = manifest
  if (args.at(-1) === '--prepare') return prepare()
  if (args.length > 0) {
    const known = args.length === 1 ? { '--help': usage, '--version': `${version}\n` }[String(args[0])] : undefined
    process[known ? 'stdout' : 'stderr'].write(known ?? usage)
    return known ? 0 : 2
  }
  const { createLogger } = await import('./log/createLogger.ts')
  const log = createLogger({ threshold: 'info', json: !process.stdout.isTTY, write: (line) => void process.stdout.write(line) })
  process.on('unhandledRejection', (error) => log.error('a promise was rejected and nobody listened', { error }))
  process.on('uncaughtException', (error) => {
    log.error('the daemon ends: an error was not caught', { error })
    process.exit(1)
  })
  const signalled = nextSignal()
  try {
    const { createDaemon } = await import('./createDaemon.ts')
    await using _daemon = await createDaemon({ home, version, env: process.env, log })
    tellStarter({ ready: true })
    flushCompileCache()
    log.info('the daemon ends; packages go on', { signal: await signalled })
  } catch (thrown) {
    const error = toPkgdError(thrown)
    const { code, message, hint } = error
    tellStarter({ ready: false, code, message, ...(hint === undefined ? {} : { hint }) })
    if (code === 'INTERNAL') log.error('the daemon cannot start', { error: thrown })
    process.stderr.write(`error ${code}: ${message}\n${hint === undefined ? '' : `hint: ${hint}\n`}`)
    return errorTable[code].exit
  }
  return 0
}

process.exit(await run(process.argv.slice(2)))
