import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkMountPoints } from '../../../../sandbox/bubblewrap/mountPoints.ts'
import { readRootLayout } from '../../../../sandbox/bubblewrap/rootLayout.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'pkgd-root-'))
  for (const path of ['usr/bin', 'etc', 'app', 'run/pkgd', 'home', 'proc', 'dev', 'tmp', 'data'])
    await mkdir(join(root, path), { recursive: true })
  await symlink('usr/bin', join(root, 'bin'))
  await writeFile(join(root, 'etc/hosts'), '')
})
afterAll(() => rm(root, { recursive: true, force: true }))

it('readRootLayout: what an image has, without the places that a sandbox makes itself', async () => {
  expect(await readRootLayout(root)).toEqual({ directories: ['etc', 'usr'], links: [{ name: 'bin', target: 'usr/bin' }] })
})

describe('checkMountPoints', () => {
  const check = async (target: string, source = root) =>
    checkMountPoints([{ source, target, readOnly: true }], root, await readRootLayout(root))

  it.each(['/docs', '/data', '/home/me/docs', '/etc/hosts', '/usr/bin', '/srv/a/b'])('%s has a place', async (target) => {
    await expect(check(target)).resolves.toBeUndefined()
  })

  it.each(['/usr/share/docs', '/etc/mine', '/bin/tool'])("%s would be inside the image's own", async (target) => {
    await expect(check(target)).rejects.toMatchObject({ code: 'MOUNT_REFUSED' })
  })

  it('needs a source', async () => {
    await expect(check('/docs', join(root, 'nowhere'))).rejects.toMatchObject({ code: 'MOUNT_REFUSED' })
  })
})
