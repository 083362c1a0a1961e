import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkSources, openSource } from '../../../../sandbox/confinement/mountSources.ts'
import { confirmMounts } from '../../../../sandbox/docker/confirmMounts.ts'

const refused = (message: RegExp) => expect.objectContaining({ code: 'MOUNT_REFUSED', message: expect.stringMatching(message) })
const kept = { pkgd: ['/none/home'], engine: ['/var/lib/engine'] }
const grant = (source: string) => ({ source, target: '/docs', readOnly: true })

describe.runIf(process.platform === 'linux')('the source of a mount, at a start', () => {
  let root: string
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'pkgd-source-')))
    await mkdir(join(root, 'parent', 'docs'), { recursive: true })
    await writeFile(join(root, 'file'), '')
    await symlink('parent', join(root, 'link'))
    await symlink('/', join(root, 'parent', 'root'))
  })
  afterAll(() => rm(root, { recursive: true }))

  it.each(['parent/docs', 'parent', 'file'])('%s is what it was', async (path) => {
    await checkSources([grant(join(root, path))], kept)
    await using place = await openSource(grant(join(root, path)))
    expect(place.fd).toBeGreaterThan(2)
  })

  it.each([
    ['link', /leads to .*parent now/],
    ['link/docs', /leads to .*parent\/docs now/],
    ['gone', /does not exist/],
    ['file/below', /does not exist/],
  ])('%s is refused, looked at and opened', async (path, message) => {
    await expect(checkSources([grant(join(root, path))], kept)).rejects.toThrow(refused(message))
    await expect(openSource(grant(join(root, path)))).rejects.toThrow(refused(message))
  })

  it('a link to the whole machine is that', async () => {
    await expect(checkSources([grant(join(root, 'parent', 'root'))], kept)).rejects.toThrow(refused(/whole machine/))
    await expect(openSource(grant(join(root, 'parent', 'root')))).rejects.toThrow(refused(/leads to \/ now/))
  })

  it("what is the container engine's, or holds it, is refused", async () => {
    const engine = { pkgd: [], engine: [join(root, 'parent', 'docs')] }
    for (const path of ['parent', 'parent/docs'])
      await expect(checkSources([grant(join(root, path))], engine)).rejects.toThrow(refused(/container engine's own/))
    await checkSources([grant(join(root, 'file'))], engine)
  })

  it('what is held open is the same place, whatever its path becomes', async () => {
    const path = join(root, 'moving')
    await mkdir(path)
    await using place = await openSource(grant(path))
    await rename(path, join(root, 'moved'))
    await symlink('/', path)
    expect(await realpath(`/proc/self/fd/${place.fd}`)).toBe(join(root, 'moved'))
  })

  it('what a process has mounted is compared with what was granted', async () => {
    await confirmMounts([grant('/proc')], process.pid)
    await expect(confirmMounts([grant(join(root, 'file'))], process.pid)).rejects.toThrow(refused(/was replaced/))
    await confirmMounts([grant(join(root, 'file'))], 2 ** 30)
  })
})
