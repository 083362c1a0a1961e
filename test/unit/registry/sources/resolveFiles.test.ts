import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tarBytes } from '../store/tarBytes.ts'
import { createRegistryFixture, type RegistryFixture, sri } from './registryFixture.ts'

let at: RegistryFixture
let into: string
beforeEach(async () => {
  at = await createRegistryFixture()
  into = join(at.scratch, 'into')
  mkdirSync(into)
})
afterEach(() => at.close())

const manifest = JSON.stringify({
  id: 'demo',
  name: 'Demo',
  version: '1.0.0',
  type: 'mcp-server',
  mcp: { transport: 'stdio', command: 'node', args: ['x.mjs'] },
})
const archive = gzipSync(
  tarBytes([
    { path: 'package/package.json', body: manifest },
    { path: 'package/x.mjs', body: '1' },
  ]),
)
const evil = gzipSync(
  tarBytes([
    { path: 'package/package.json', body: manifest },
    { path: '../evil', body: '1' },
  ]),
)
const leftovers = () => (existsSync(join(at.scratch, 'tmp')) ? readdirSync(join(at.scratch, 'tmp')) : [])

test('an archive on this disk: its integrity is taken, and demanded when it is fetched', async () => {
  const path = join(at.scratch, 'a.tgz')
  writeFileSync(path, archive)
  const found = await at.resolver.resolve({ kind: 'archive', path }, at.context)
  expect(found).toMatchObject({
    layout: 'files',
    manifestOrigin: 'file',
    manifest: { id: 'demo' },
    resolution: { kind: 'archive', path, integrity: sri('sha512', archive) },
  })
  expect(await at.fetchInto(found.resolution, into, at.context)).toEqual({ integrity: sri('sha512', archive) })
  expect(readdirSync(into)).toEqual(['package.json', 'x.mjs'])

  const other = join(at.scratch, 'other')
  mkdirSync(other)
  writeFileSync(path, gzipSync(tarBytes([{ path: 'package/package.json', body: manifest }])))
  await expect(at.fetchInto(found.resolution, other, at.context)).rejects.toMatchObject({ code: 'INTEGRITY_MISMATCH' })
  expect(readdirSync(other)).toEqual([])
  expect(leftovers()).toEqual([])
})

test('an https archive without an integrity is not read; what it would be is said, and not downloaded twice', async () => {
  at.pages.set('/a.tgz', archive)
  const url = `${at.http.url}/a.tgz`
  const integrity = sri('sha512', archive)
  await expect(at.resolver.resolve({ kind: 'https', url, integrity: null }, at.context)).rejects.toMatchObject({
    code: 'INTEGRITY_REQUIRED',
    hint: expect.stringContaining(`--integrity ${integrity}`),
  })
  expect(leftovers()).toEqual([])
  const found = await at.resolver.resolve({ kind: 'https', url, integrity }, at.context)
  expect(found.resolution).toEqual({ kind: 'https', url, integrity })
  await at.fetchInto(found.resolution, into, at.context)
  expect(at.http.requests).toHaveLength(1)
  const given = await at.resolver.resolve({ kind: 'https', url, integrity: sri('sha256', archive) }, at.context)
  expect(given.resolution).toEqual({ kind: 'https', url, integrity: sri('sha256', archive) })
})

test.each<[string, object]>([
  ['/wrong.tgz', { code: 'INTEGRITY_MISMATCH' }],
  ['/evil.tgz', { code: 'ARCHIVE_UNSAFE' }],
  ['/none.tgz', { code: 'SOURCE_NOT_FOUND' }],
  [
    '/empty.tgz',
    { code: 'MANIFEST_MISSING', message: expect.stringMatching(/empty\.tgz has no package\.json at its top, where it has x$/) },
  ],
  ['/text.tgz', { code: 'ARCHIVE_DAMAGED' }],
])('https %s', async (path, expected) => {
  const pages: Record<string, Buffer> = {
    '/evil.tgz': evil,
    '/empty.tgz': gzipSync(tarBytes([{ path: 'package/x', body: '1' }])),
    '/text.tgz': Buffer.from('nothing like an archive'.repeat(100)),
  }
  at.pages.set('/wrong.tgz', archive)
  for (const [name, body] of Object.entries(pages)) at.pages.set(name, body)
  const integrity = sri('sha512', pages[path] ?? 'other')
  await expect(at.resolver.resolve({ kind: 'https', url: at.http.url + path, integrity }, at.context)).rejects.toMatchObject(expected)
  expect(leftovers()).toEqual([])
  expect(existsSync(join(at.scratch, 'evil'))).toBe(false)
})

/** A repository with a tag, a hook-laden configuration and things that a checkout would act on. */
const createRepository = () => {
  const path = join(at.scratch, 'repository')
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', path, '-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', ...args], {
      stdio: 'pipe',
    })
      .toString()
      .trim()
  mkdirSync(path)
  git('init', '-q')
  writeFileSync(join(path, 'package.json'), manifest)
  writeFileSync(join(path, 'x.mjs'), '1')
  writeFileSync(join(path, '.gitattributes'), '* filter=evil\n')
  writeFileSync(join(path, '.gitmodules'), '[submodule "m"]\n\tpath = m\n\turl = ext::touch evil\n')
  git('add', '.')
  git('commit', '-qm', 'one')
  git('tag', '-a', 'v1.0.0', '-m', 'one')
  writeFileSync(join(path, 'package.json'), manifest.replace('1.0.0', '2.0.0'))
  git('commit', '-qam', 'two')
  return { path, git, url: `file://${path}` }
}

test('a repository: a tag is pinned to its commit, and the files of that commit come, without git', async () => {
  const { url, git } = createRepository()
  const tagged = await at.resolver.resolve({ kind: 'git', url, ref: 'v1.0.0' }, at.context)
  expect(tagged).toMatchObject({
    layout: 'files',
    manifest: { version: '1.0.0' },
    resolution: { kind: 'git', url, commit: git('rev-parse', 'v1.0.0^{}') },
  })
  expect(await at.resolver.resolve({ kind: 'git', url, ref: null }, at.context)).toMatchObject({ manifest: { version: '2.0.0' } })
  expect(await at.resolver.resolve({ kind: 'git', url, ref: git('rev-parse', 'v1.0.0^{}') }, at.context)).toMatchObject({
    manifest: { version: '1.0.0' },
  })
  await at.fetchInto(tagged.resolution, into, at.context)
  expect(readdirSync(into).sort()).toEqual(['.gitattributes', '.gitmodules', 'package.json', 'x.mjs'])
  expect(leftovers()).toEqual([])
})

test('a link out of a repository is refused', async () => {
  const { url, git, path } = createRepository()
  symlinkSync('/etc/passwd', join(path, 'link'))
  git('add', '.')
  git('commit', '-qm', 'three')
  await expect(at.resolver.resolve({ kind: 'git', url, ref: null }, at.context)).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
})

test('a commit that unpacks to more than allowed is refused before it is unpacked', async () => {
  const { url, git, path } = createRepository()
  writeFileSync(join(path, 'zeros'), Buffer.alloc(11_000_000))
  git('add', '.')
  git('commit', '-qm', 'three')
  await expect(at.resolver.resolve({ kind: 'git', url, ref: null }, at.context)).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' })
})

test.each([
  ['no such tag', (url: string) => ({ url, ref: 'v9' })],
  ['no such commit', (url: string) => ({ url, ref: 'e'.repeat(40) })],
  ['no such repository', (url: string) => ({ url: `${url}-not`, ref: null })],
])('%s', async (_, of) => {
  const { url } = createRepository()
  await expect(at.resolver.resolve({ kind: 'git', ...of(url) }, at.context)).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
  expect(leftovers()).toEqual([])
})

test('an address can be no option and no command', async () => {
  for (const url of [`ext::touch ${join(at.scratch, 'evil')}`, `--upload-pack=touch ${join(at.scratch, 'evil')}`]) {
    await expect(at.resolver.resolve({ kind: 'git', url, ref: null }, at.context)).rejects.toMatchObject({
      code: expect.stringMatching(/SOURCE_NOT_FOUND|REGISTRY_UNREACHABLE/),
    })
  }
  expect(existsSync(join(at.scratch, 'evil'))).toBe(false)
})

test('a folder is read where it is', async () => {
  const path = join(at.scratch, 'folder')
  mkdirSync(path)
  writeFileSync(join(path, 'package.json'), manifest)
  const found = await at.resolver.resolve({ kind: 'folder', path }, at.context)
  expect(found.resolution).toEqual({ kind: 'folder', path })
  expect(await at.fetchInto(found.resolution, into, at.context)).toEqual({ integrity: null })
  await expect(at.resolver.resolve({ kind: 'folder', path: join(path, 'nope') }, at.context)).rejects.toMatchObject({
    code: 'SOURCE_NOT_FOUND',
  })
  await expect(at.resolver.resolve({ kind: 'archive', path: join(path, 'nope.tgz') }, at.context)).rejects.toMatchObject({
    code: 'SOURCE_NOT_FOUND',
  })
})

test('an archive with two folders at its top is there, and has no manifest', async () => {
  const path = join(at.scratch, 'two.tgz')
  writeFileSync(
    path,
    gzipSync(
      tarBytes([
        { path: 'weather/package.json', body: manifest },
        { path: 'docs/x.md', body: '1' },
      ]),
    ),
  )
  await expect(at.resolver.resolve({ kind: 'archive', path }, at.context)).rejects.toMatchObject({
    code: 'MANIFEST_MISSING',
    message: 'two.tgz has no package.json at its top, where it has docs/, weather/',
    hint: 'pack the folder that has the package.json',
  })
  expect(leftovers()).toEqual([])
})

test('what is neither a folder nor an archive is told so, and a pipe is not waited for', async () => {
  const file = join(at.scratch, 'file')
  const pipe = join(at.scratch, 'pipe.tgz')
  const folder = join(at.scratch, 'folder.tgz')
  writeFileSync(file, 'x')
  await promisify(execFile)('mkfifo', [pipe])
  mkdirSync(folder)
  const told = (source: { kind: 'folder' | 'archive'; path: string }) =>
    at.resolver.resolve(source, at.context).then(
      () => '',
      (error: { code: string; message: string }) => `${error.code} ${error.message}`,
    )
  for (const path of [file, '/dev/zero']) {
    expect(await told({ kind: 'folder', path })).toBe(`SOURCE_NOT_FOUND ${path} is neither a folder nor a .tgz, .tar.gz or .tar archive`)
  }
  expect(await told({ kind: 'archive', path: pipe })).toBe(`SOURCE_NOT_FOUND ${pipe} is named like an archive, but it is no file`)
  expect(await told({ kind: 'archive', path: folder })).toBe(`SOURCE_NOT_FOUND ${folder} is named like an archive, but it is a folder`)
  await expect(at.fetchInto({ kind: 'archive', path: pipe, integrity: sri('sha512', 'x') }, into, at.context)).rejects.toMatchObject({
    code: 'SOURCE_NOT_FOUND',
  })
})
