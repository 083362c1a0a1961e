import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createImageBuilder } from '../../../sandbox/images/imageBuilder.ts'
import { missing } from '../../provision/requirements.ts'
import { silentLog } from '../sandbox/silentLog.ts'

const flag = process.env.PKGD_TEST_DEBOOTSTRAP === '1' ? null : 'takes a minute and 80 MB of downloads: set PKGD_TEST_DEBOOTSTRAP=1'
const reason = flag ?? (await missing('debootstrap', 'root', 'bubblewrap'))

describe.skipIf(reason !== null)(`the Python image of a host without Python${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pkgd-debian-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  it("is made of Debian's packages, with Python, pip and Node", async () => {
    const images = createImageBuilder({ directory, log: silentLog, env: { PATH: '/nonexistent' } })
    const context = { signal: new AbortController().signal, progress: () => undefined }
    const root = await images.prepareRoot('python', context)
    expect(root.runtimes).toEqual({ node: process.versions.node, python: expect.stringMatching(/^3\.\d+\.\d+$/) })
    const script =
      'python -c "import ssl, sqlite3, asyncio, sys; print(sys.version.split()[0])"; python -m pip --version; node -p process.versions.node'
    const { stdout } = await execa('bwrap', [
      '--unshare-all',
      '--ro-bind',
      root.path,
      '/',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      'sh',
      '-c',
      script,
    ])
    const [python, pip, node] = stdout.split('\n')
    expect(python).toBe(root.runtimes.python)
    expect(pip).toMatch(/^pip \d/)
    expect(node).toBe(process.versions.node)
    expect(await images.prepareRoot('python', context)).toEqual({ ...root, origin: 'cached' })
  }, 600_000)
})
