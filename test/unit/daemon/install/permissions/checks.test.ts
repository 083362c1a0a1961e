import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkCeilings } from '../../../../../daemon/install/permissions/checkCeilings.ts'
import { checkMountSources } from '../../../../../daemon/install/permissions/checkMountSources.ts'
import { checkNetwork } from '../../../../../daemon/install/permissions/checkNetwork.ts'

const MB = 1024 ** 2
const ceiling = { memoryBytes: 512 * MB, cpus: 2, pids: 1024, tmpBytes: 64 * MB }

describe('ceilings', () => {
  test('are met by what is at them', () => {
    expect(() => checkCeilings('weather', ceiling, ceiling)).not.toThrow()
  })

  test('are refused with both numbers of every limit above them', () => {
    expect(() => checkCeilings('weather', { ...ceiling, memoryBytes: 1024 * MB, cpus: 8 }, ceiling)).toThrow(
      expect.objectContaining({
        code: 'LIMIT_ABOVE_CEILING',
        message: 'weather is above the ceiling (memory: 1GB asked, 512MB allowed; CPUs: 8 asked, 2 allowed)',
        hint: 'ask for less, or raise limits.max.memory, limits.max.cpus in pkgd.yaml',
      }),
    )
  })

  test.each([0, -1, Number.NaN])('a limit of %s is none', (cpus) => {
    expect(() => checkCeilings('weather', { ...ceiling, cpus }, ceiling)).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })
})

describe('a network policy', () => {
  const capabilities = { driver: 'x', network: ['none', 'internet'] as const, networkRefused: { allow: 'no name-based rules yet' } }
  test('that is enforced passes', () => {
    expect(() => checkNetwork('weather', { mode: 'internet' }, capabilities)).not.toThrow()
  })
  test('that is not is refused with the reason', () => {
    expect(() => checkNetwork('weather', { mode: 'allow', targets: [] }, capabilities)).toThrow(
      expect.objectContaining({ code: 'NETWORK_UNSUPPORTED', message: expect.stringContaining('no name-based rules yet') }),
    )
  })
})

describe('a mount', () => {
  let root: string
  const server = createServer()
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'pkgd-mounts-')))
    await mkdir(join(root, 'docs'))
    await mkdir(join(root, 'engine', 'volumes'), { recursive: true })
    await mkdir(join(root, 'home', 'store'), { recursive: true })
    await writeFile(join(root, 'file.txt'), 'x')
    await symlink(join(root, 'docs'), join(root, 'link'))
    await symlink(join(root, 'home', 'store'), join(root, 'sly'))
    await symlink('/proc', join(root, 'kernel'))
    await new Promise<void>((resolve) => server.listen(join(root, 'engine.sock'), resolve))
  })
  afterAll(async () => {
    server.close()
    await rm(root, { recursive: true })
  })
  test('that nobody typed this time say how to be rid of them', async () => {
    const mounts = [{ source: join(root, 'gone'), target: '/docs', readOnly: true }]
    await expect(checkMountSources(mounts, { pkgd: [], engine: [] }, 'weather')).rejects.toMatchObject({
      code: 'MOUNT_REFUSED',
      message: expect.stringContaining('which an earlier install gave weather at /docs'),
      hint: expect.stringMatching(/--mount <path>:\/docs .*--mount none/),
    })
  })

  const kept = () => ({ pkgd: [join(root, 'home')], engine: [join(root, 'engine')] })
  const check = (source: string, target = '/docs') => checkMountSources([{ source, target, readOnly: true }], kept())

  test('that lies in another one which the package may write to is refused', async () => {
    await mkdir(join(root, 'docs', 'inner'), { recursive: true })
    const mounts = (readOnly: boolean) => [
      { source: join(root, 'link'), target: '/all', readOnly },
      { source: join(root, 'docs', 'inner'), target: '/inner', readOnly: true },
    ]
    await expect(checkMountSources(mounts(false), kept())).rejects.toMatchObject({
      code: 'MOUNT_REFUSED',
      message: expect.stringContaining('could put something else in its place'),
    })
    expect(await checkMountSources(mounts(true), kept())).toHaveLength(2)
    const same = ['/one', '/two'].map((target) => ({ source: join(root, 'docs'), target, readOnly: false }))
    expect(await checkMountSources(same, kept())).toHaveLength(2)
  })

  test('of a folder, of a file, and behind a link, is its real path', async () => {
    expect(await check(join(root, 'docs'))).toEqual([{ source: join(root, 'docs'), target: '/docs', readOnly: true }])
    expect((await check(join(root, 'file.txt')))[0]?.source).toBe(join(root, 'file.txt'))
    expect((await check(join(root, 'link')))[0]?.source).toBe(join(root, 'docs'))
  })

  test.each<[string, () => string, string]>([
    ['a relative path', () => 'docs', 'not an absolute path'],
    ['nothing', () => join(root, 'none'), 'does not exist'],
    ['the whole machine', () => '/', 'the whole machine'],
    ['the kernel', () => '/proc/self', '/proc belongs to the running system'],
    ['devices', () => '/dev', '/dev belongs to the running system'],
    ['a link to the kernel', () => join(root, 'kernel'), '/proc belongs to the running system'],
    ['a socket', () => join(root, 'engine.sock'), 'neither a folder nor a file'],
    ["pkgd's home", () => join(root, 'home'), "pkgd's own"],
    ["something in pkgd's home", () => join(root, 'home', 'store'), "pkgd's own"],
    ["a link into pkgd's home", () => join(root, 'sly'), "pkgd's own"],
    ["what holds pkgd's home", () => root, "pkgd's own"],
    ["the engine's root", () => join(root, 'engine'), "the container engine's own"],
    ["something in the engine's root", () => join(root, 'engine', 'volumes'), "the container engine's own"],
  ])('of %s is refused', async (_name, source, message) => {
    await expect(check(source())).rejects.toThrow(
      expect.objectContaining({ code: 'MOUNT_REFUSED', message: expect.stringContaining(message) }),
    )
  })

  test.each(['/app', '/app/x', '/', '/proc', '/tmp/x', 'docs', '/run/pkgd'])('at %s is refused', async (target) => {
    await expect(check(join(root, 'docs'), target)).rejects.toThrow(expect.objectContaining({ code: 'MOUNT_REFUSED' }))
  })
})
