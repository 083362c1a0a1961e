import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandNames } from '../../cli/commands.ts'
import { missing } from '../provision/requirements.ts'
import { createPackageFolder, nodeServer, type PackageFolder, serverProgram } from './packages.ts'
import { createTestHome, type TestHome } from './testHome.ts'

const reason = await missing('docker')
const bin = join(import.meta.dirname, '..', '..', 'bin')

/** What a shell of this machine makes of the script that `pkg completion` prints. */
describe.skipIf(reason)(`completion [${reason}]`, () => {
  let home: TestHome
  let folder: PackageFolder
  beforeAll(async () => {
    home = await createTestHome({ driver: 'docker' })
    folder = await createPackageFolder()
    for (const id of ['weather-one', 'weather-two', 'other']) {
      await home.pkg(['install', await folder.write(nodeServer(id), { 'server.mjs': serverProgram() })])
    }
    // Names of commands and packages that are folders here too, and a file whose name has a space.
    for (const name of ['daemon', 'list']) await mkdir(join(folder.path, name))
    await writeFile(join(folder.path, 'a package.tgz'), '')
  })
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  /** Completes the last of the words as bash would at a Tab. */
  const complete = async (...words: string[]): Promise<string[]> => {
    const script = `source <(pkg completion bash)
      [[ $(complete -p pkg) == *' -F _pkg pkg' && $(complete -p pkg) != *filenames* ]] || exit 9
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pkg; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = await execa('bash', ['--norc', '-c', script, 'bash', ...words], {
      cwd: folder.path,
      env: { PKGD_HOME: home.path, PATH: `${bin}:${process.env.PATH}` },
    })
    expect(stderr).toBe('')
    return stdout.split('\n').filter(Boolean).sort()
  }

  it.each([
    ['every command', ['pkg', ''], [...commandNames].sort()],
    ['a command by its beginning', ['pkg', 'sta'], ['start', 'stats']],
    ['a command that is the name of a folder here', ['pkg', 'dae'], ['daemon']],
    ['the options of a command', ['pkg', 'install', '--i'], ['--integrity']],
    ['options common to all', ['pkg', 'list', '--j'], ['--json']],
    ['what a command has below it', ['pkg', 'daemon', 'st'], ['start', 'status', 'stop']],
    ['installed packages', ['pkg', 'start', 'wea'], ['weather-one', 'weather-two']],
    ['nothing where nothing fits', ['pkg', 'start', 'x'], []],
    ['a file with a space in its name', ['pkg', 'install', 'a'], ['a package.tgz']],
  ])('bash completes %s', async (_name, words, expected) => expect(await complete(...words)).toEqual(expected))

  it('asks no daemon to start', async () => {
    await home.pkg(['daemon', 'stop'])
    expect(await complete('pkg', 'start', 'wea')).toEqual([])
    expect((await home.pkg(['daemon', 'status'])).exitCode).toBe(3)
    await home.pkg(['daemon', 'start'])
  })
})

for (const [shell, check] of [
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
] as const) {
  const why = await missing(shell)
  it.skipIf(why)(`${shell} can read its script [${why}]`, async () => {
    await using folder = await createPackageFolder()
    const script = join(folder.path, 'script')
    await execa(join(bin, 'pkg'), ['completion', shell], { stdout: { file: script } })
    const { stderr, exitCode } = await execa(shell, [...check, script], { reject: false })
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  })
}
