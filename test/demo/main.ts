import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { provisionEngine } from '../provision/provisionEngine.ts'

/** `npm run demo`: the main job as a user would type it, on a daemon of its own in a temporary home that is gone afterwards. */
const root = join(import.meta.dirname, '..', '..')
const say = (line: string) => console.log(`\n# ${line}`)

const provision = await provisionEngine((line) => console.log(`pkgd: ${line}`))
if (provision.driver === null) {
  console.error(`error DRIVER_UNAVAILABLE: ${provision.remark}`)
  process.exit(1)
}
console.log(`pkgd: sandboxes run on ${provision.driver} (${provision.remark})`)

const home = await mkdtemp(join(tmpdir(), 'pkgd-demo-'))
const env = { PKGD_HOME: home, PKGD_PORT: '0', PKGD_DRIVER: provision.driver, PKGD_URL: '', PKGD_TOKEN: '', PKGD_LOG: 'info' }

/** Types a command and shows what it prints; `expected` are the exit codes that are no failure here. */
async function pkg(args: readonly string[], expected: readonly number[] = [0]): Promise<void> {
  console.log(`\n$ pkg ${args.map(quote).join(' ')}`)
  const { exitCode = 1 } = await execa(join(root, 'bin', 'pkg'), args, { cwd: root, env, stdio: 'inherit', reject: false })
  if (!expected.includes(exitCode)) throw new Error(`pkg ${args[0]} ended with exit code ${exitCode}`)
}

const quote = (word: string) => (/^[\w@./:=-]+$/.test(word) ? word : `'${word}'`)

try {
  say('A daemon of its own, in a temporary home')
  await pkg(['daemon', 'start'])

  say('An MCP server from npm that has never heard of pkgd: its manifest is derived, its sandbox the tightest')
  await pkg(['install', 'npm:@modelcontextprotocol/server-everything'])
  await pkg(['start', 'server-everything'])
  await pkg(['tools', 'server-everything'])
  await pkg(['call', 'server-everything/echo', '{"message":"hello from a sandbox"}'])

  say('A Python package of ours, its pip dependencies included; it asks for the internet, hence --yes')
  await pkg(['install', './packages/weather', '--yes', '--start'])
  say('Where the internet cannot be reached, the tool says so')
  await pkg(['call', 'weather-tool/get_current_weather', '{"location":"Taipei"}'], [0, 1])

  say('What each sandbox was asked, and what the kernel holds it to')
  await pkg(['info', 'server-everything'])
  await pkg(['info', 'weather-tool'])
  await pkg(['stats'])

  say('What happened')
  await pkg(['events', '--type', 'package.*'])

  say('Stop and clean up')
  await pkg(['stop', 'server-everything', 'weather-tool'])
  await pkg(['list'])
  await pkg(['uninstall', 'server-everything', '--purge'])
  await pkg(['uninstall', 'weather-tool', '--purge'])
} finally {
  await execa(join(root, 'bin', 'pkg'), ['daemon', 'stop'], { env, stdio: 'inherit', reject: false })
  await rm(home, { recursive: true, force: true })
}
console.log('\nDone: nothing is left behind.')
