import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import semver from 'semver'

/** `npm run test:oldest`: the unit tests on the oldest Node that `engines` allows, fetched from npm into a scratch folder. */
const root = join(import.meta.dirname, '..')
const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { engines: { node: string } }
const oldest = semver.minVersion(engines.node)?.major
const binary = `node-${process.platform}-${process.arch}`

const scratch = await mkdtemp(join(tmpdir(), 'pkgd-node-'))
try {
  await execa('npm', ['install', '--no-save', '--prefix', scratch, `${binary}@${oldest}`], { stdio: ['ignore', 'ignore', 'inherit'] })
  const node = join(scratch, 'node_modules', '.bin', 'node')
  console.log(`unit tests on Node ${(await execa(node, ['--version'])).stdout}`)
  const { exitCode } = await execa(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'unit'], {
    cwd: root,
    stdio: 'inherit',
    reject: false,
  })
  process.exitCode = exitCode ?? 1
} finally {
  await rm(scratch, { recursive: true, force: true })
}
