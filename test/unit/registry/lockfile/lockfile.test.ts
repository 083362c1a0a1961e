import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatLockfile } from '../../../../registry/lockfile/formatLockfile.ts'
import { emptyLockfile, type LockedPackage, type Lockfile } from '../../../../registry/lockfile/lockfile.ts'
import { readLockfile, setAsideLockfile, updateLockfile, writeLockfile } from '../../../../registry/lockfile/lockfileOnDisk.ts'
import { parseLockfile } from '../../../../registry/lockfile/parseLockfile.ts'
import { satisfies } from '../../../../registry/lockfile/satisfies.ts'
import type { Resolution, Source } from '../../../../registry/resolve/resolution.ts'

const integrity = `sha512-${Buffer.alloc(64, 7).toString('base64')}`
const tree = `sha512-${'ab'.repeat(64)}`
const locked = (resolution: Resolution, version = '1.2.0', extensions: Record<string, string> = {}): LockedPackage => ({
  version,
  resolution,
  tree,
  dependencies: { 'zod@4.0.0': integrity },
  extensions,
})

const everything: Lockfile = {
  lockfileVersion: 1,
  packages: {
    weather: locked({ kind: 'folder', path: '/srv/weather' }, '1.2.0', { base: '^1' }),
    base: locked({ kind: 'archive', path: '/srv/base.tgz', integrity }),
    everything: locked({ kind: 'npm', name: '@scope/everything', version: '2.0.0', tarball: 'https://r/e.tgz', integrity }),
    time: locked({ kind: 'pypi', name: 'mcp-server-time', version: '0.6', url: 'https://r/t.whl', integrity }),
    repo: locked({ kind: 'git', url: 'https://host/repo.git', commit: 'a'.repeat(40) }),
    web: locked({ kind: 'https', url: 'https://host/web.tgz', integrity }),
  },
}

let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pkgd-lock-'))
  path = join(directory, 'pkgd.lock')
})
afterEach(() => rm(directory, { recursive: true }))

describe('the file', () => {
  it('is read back as it was written', async () => {
    await writeLockfile(path, everything)
    expect(await readLockfile(path)).toEqual(everything)
    expect(await readdir(directory)).toEqual(['pkgd.lock'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('is the same bytes whatever the order, ids sorted, keys in snake_case', () => {
    const entries = Object.entries(everything.packages)
    fc.assert(
      fc.property(fc.shuffledSubarray(entries, { minLength: entries.length }), (shuffled) => {
        expect(formatLockfile({ lockfileVersion: 1, packages: Object.fromEntries(shuffled) })).toBe(formatLockfile(everything))
      }),
    )
    const document = JSON.parse(formatLockfile(everything))
    expect(Object.keys(document)).toEqual(['lockfile_version', 'packages'])
    expect(Object.keys(document.packages)).toEqual(Object.keys(everything.packages).sort())
  })

  it('is empty where there is none', async () => expect(await readLockfile(path)).toEqual(emptyLockfile))

  it.each([
    ['nothing', ''],
    ['half of it', formatLockfile(everything).slice(0, 400)],
    ['merge markers', `<<<<<<< ours\n${formatLockfile(everything)}`],
    ['another document', '{"name":"x","lockfileVersion":3}'],
    ['a list', '[]'],
    ['a newer version', '{"lockfile_version":2,"packages":{}}'],
    ['a version that is none', formatLockfile(everything).replace('"version": "1.2.0"', '"version": "one"')],
    ['an unknown kind', formatLockfile(everything).replace('"kind": "folder"', '"kind": "magic"')],
    ['a resolution that lacks its integrity', formatLockfile(everything).replace(/("kind": "archive",\s*)"integrity": "[^"]*",/, '$1')],
    ['a weak integrity', formatLockfile(everything).replaceAll('sha512-B', 'sha1-B')],
  ])('is damaged with %s, and then is never overwritten', async (_, content) => {
    await writeFile(path, content)
    await expect(readLockfile(path)).rejects.toMatchObject({ code: 'LOCKFILE_DAMAGED', message: expect.stringContaining(path) })
    await expect(updateLockfile(path, () => emptyLockfile)).rejects.toMatchObject({ code: 'LOCKFILE_DAMAGED' })
    expect(await readFile(path, 'utf8')).toBe(content)
  })

  it('is set aside under a name of its own, twice in one second too', async () => {
    const names: string[] = []
    for (const content of ['one', 'two']) {
      await writeFile(path, content)
      names.push(await setAsideLockfile(path, Date.UTC(2026, 0, 2, 3, 4, 5)))
    }
    expect(names).toEqual([`${path}.damaged-20260102T030405Z`, `${path}.damaged-20260102T030405Z-1`])
    expect(await Promise.all(names.map((name) => readFile(name, 'utf8')))).toEqual(['one', 'two'])
    expect((await readdir(directory)).length).toBe(2)
  })

  it('cannot be set aside when it is gone, and nothing is left of the attempt', async () => {
    await expect(setAsideLockfile(path, 0)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await readdir(directory)).toEqual([])
  })

  it('leaves the old one and no rest when it cannot be written', async () => {
    await writeLockfile(path, everything)
    const nowhere = join(directory, 'gone', 'pkgd.lock')
    await expect(writeLockfile(nowhere, everything)).rejects.toMatchObject({ code: 'ENOENT' })
    await rm(path)
    await chmod(directory, 0o700)
    await expect(writeLockfile(directory, everything)).rejects.toThrow()
    expect((await readdir(tmpdir())).filter((name) => name.startsWith(`.${directory.split('/').at(-1)}`))).toEqual([])
  })

  it('is not written again when nothing changed', async () => {
    await writeLockfile(path, everything)
    const before = await stat(path)
    await updateLockfile(path, (lock) => ({ ...lock }))
    expect((await stat(path)).ino).toBe(before.ino)
    await updateLockfile(path, (lock) => ({ ...lock, packages: {} }))
    expect(await readLockfile(path)).toEqual(emptyLockfile)
  })

  it('keeps every lockfile through a round trip', () => {
    const id = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/)
    const resolution: fc.Arbitrary<Resolution> = fc.oneof(
      fc.record({ kind: fc.constant('folder' as const), path: fc.string().map((text) => `/${text}`) }),
      fc.record({ kind: fc.constant('https' as const), url: fc.webUrl(), integrity: fc.constant(integrity) }),
    )
    const entry = fc.record({
      version: fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)).map((parts) => parts.join('.')),
      resolution,
      tree: fc.constant(tree),
      dependencies: fc.dictionary(fc.string(), fc.string()),
      extensions: fc.dictionary(id, fc.constantFrom('^1', '*', '>=2 <3')),
    })
    fc.assert(
      fc.property(fc.dictionary(id, entry), (packages) => {
        const lockfile: Lockfile = { lockfileVersion: 1, packages }
        expect(parseLockfile(formatLockfile(lockfile), 'x')).toEqual(JSON.parse(JSON.stringify(lockfile)))
      }),
      { numRuns: 200 },
    )
  })
})

describe('satisfies', () => {
  it.each<[Source, string]>([
    [{ kind: 'registry', id: 'weather', range: '^1' }, 'weather'],
    [{ kind: 'folder', path: '/srv/weather' }, 'weather'],
    [{ kind: 'archive', path: '/srv/base.tgz' }, 'base'],
    [{ kind: 'npm', name: '@scope/everything', range: 'latest' }, 'everything'],
    [{ kind: 'npm', name: '@scope/everything', range: '^2' }, 'everything'],
    [{ kind: 'pypi', name: 'MCP_server.time', range: '' }, 'time'],
    [{ kind: 'pypi', name: 'mcp-server-time', range: '==0.6' }, 'time'],
    [{ kind: 'git', url: 'https://host/repo.git', ref: 'main' }, 'repo'],
    [{ kind: 'git', url: 'https://host/repo.git', ref: 'aaaaaaa' }, 'repo'],
    [{ kind: 'https', url: 'https://host/web.tgz', integrity: null }, 'web'],
  ])('%j is answered by %s', (source, id) => expect(satisfies(everything, source)).toMatchObject({ kind: 'locked', id }))

  it.each<[Source, string]>([
    [{ kind: 'registry', id: 'weather', range: '^2' }, '1.2.0 is locked, ^2 is asked for'],
    [{ kind: 'registry', id: 'other', range: '*' }, 'not in the lockfile'],
    [{ kind: 'folder', path: '/srv/else' }, 'not in the lockfile'],
    [{ kind: 'npm', name: '@scope/everything', range: '^1' }, '2.0.0 is locked'],
    [{ kind: 'pypi', name: 'mcp-server-time', range: '==0.7' }, '0.6 is locked'],
    [{ kind: 'git', url: 'https://host/repo.git', ref: 'bbbbbbb' }, 'commit'],
    [{ kind: 'https', url: 'https://host/web.tgz', integrity: 'sha512-x' }, 'is asked for'],
  ])('%j is not: %s', (source, reason) =>
    expect(satisfies(everything, source)).toEqual({ kind: 'outdated', reason: expect.stringContaining(reason) }),
  )

  it('needs the extensions locked as well', () => {
    const ask: Source = { kind: 'registry', id: 'weather', range: '*' }
    const { base, ...without } = everything.packages
    expect(satisfies({ ...everything, packages: without }, ask)).toMatchObject({
      reason: 'weather needs base@^1, which is not in the lockfile',
    })
    const newer = { ...everything.packages, base: locked({ kind: 'folder', path: '/x' }, '2.0.0') }
    expect(satisfies({ ...everything, packages: newer }, ask)).toMatchObject({
      reason: 'weather needs base@^1, 2.0.0 is locked',
    })
    expect(base).toBeDefined()
  })

  it('ends on extensions that need each other', () => {
    const packages = {
      a: locked({ kind: 'folder', path: '/a' }, '1.0.0', { b: '*' }),
      b: locked({ kind: 'folder', path: '/b' }, '1.0.0', { a: '*' }),
    }
    expect(satisfies({ lockfileVersion: 1, packages }, { kind: 'registry', id: 'a', range: '*' })).toMatchObject({
      kind: 'locked',
    })
  })
})
