import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { list } from 'tar'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Logger, Progress } from '../../../../daemon/core/ports.ts'
import { createImageBuilder } from '../../../../sandbox/images/imageBuilder.ts'

const log: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

describe.skipIf(process.platform !== 'linux')('the image builder', () => {
  let directory: string
  const builder = (env = process.env) => createImageBuilder({ directory, log, env })
  const context = (signal = new AbortController().signal) => {
    const stages: Progress[] = []
    return { stages, signal, progress: (progress: Progress) => stages.push(progress) }
  }

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pkgd-images-'))
  })
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  it('builds once for all who ask, then finds it, in the next life too', async () => {
    const images = builder()
    const first = context()
    const [one, two] = await Promise.all([images.prepareRoot('node', first), images.prepareRoot('node', context())])
    expect(two).toEqual(one)
    expect(one).toMatchObject({ runtime: 'node', origin: 'built', runtimes: { node: process.versions.node } })
    expect(first.stages.map(({ stage }) => stage)).toEqual(['build'])
    expect(await builder().prepareRoot('node', context())).toEqual({ ...one, origin: 'cached' })
    expect((await readdir(directory)).sort()).toEqual([`node-${one.key}`, 'node.sources.json'])
  })

  it('makes a root with what is needed and nothing of the host', async () => {
    const { path } = await builder().prepareRoot('node', context())
    for (const place of ['app', 'data', 'tmp', 'run/pkgd', 'proc', 'dev', 'sys'])
      expect((await stat(join(path, place))).isDirectory()).toBe(true)
    expect((await stat(join(path, 'tmp'))).mode & 0o7777).toBe(0o1777)
    expect(await readFile(join(path, 'etc/passwd'), 'utf8')).toMatch(/^root:x:0:0/)
    expect(await readFile(join(path, 'etc/resolv.conf'), 'utf8')).toBe('')
    const { stdout } = await promisify(execFile)('find', [path, '(', '-xtype', 'l', '-o', '-perm', '/6000', ')', '-print'])
    // Links that lead nowhere, and set-user-id files. The bundle's is there only where the host has certificates.
    expect(stdout.split('\n').filter((line) => line !== '' && !line.includes('ssl'))).toEqual([])
  })

  it('writes an archive whose files are all root’s and keep their modes', async () => {
    const images = builder()
    const root = await images.prepareRoot('node', context())
    const entries = new Map<string, { uid: number | undefined; gid: number | undefined; mode: number | undefined }>()
    const parser = list({ onReadEntry: ({ path, uid, gid, mode }) => entries.set(path, { uid, gid, mode }) })
    await new Promise((resolve, reject) => {
      images.writeTar(root).on('error', reject).pipe(parser)
      parser.on('end', resolve)
    })
    expect(entries.get('./tmp/')).toMatchObject({ mode: 0o1777 })
    expect(entries.get('./usr/local/bin/node')).toMatchObject({ mode: 0o755 })
    expect([...entries.values()].filter(({ uid, gid }) => uid !== 0 || gid !== 0)).toEqual([])
  })

  it('is another image when a file that it is made from changes', async () => {
    const bundle = join(directory, 'bundle.crt')
    await writeFile(bundle, 'one')
    const images = builder({ ...process.env, SSL_CERT_FILE: bundle, NODE_EXTRA_CA_CERTS: undefined })
    const before = await images.describe('node')
    expect(await images.describe('node')).toEqual(before)
    await writeFile(bundle, 'another')
    await utimes(bundle, 1, 1)
    const after = await images.describe('node')
    expect(after.key).not.toBe(before.key)
    const { path } = await images.prepareRoot('node', context())
    expect(await readFile(join(path, 'etc/ssl/certs/ca-certificates.crt'), 'utf8')).toBe('another')
  })

  it('leaves nothing half made when it is cancelled', async () => {
    const stop = new AbortController()
    const { progress } = context()
    const build = builder().prepareRoot('node', {
      signal: stop.signal,
      progress: (stage) => [progress(stage), stop.abort(new Error('enough'))],
    })
    await expect(build).rejects.toThrow('enough')
    expect((await readdir(directory)).filter((name) => !name.endsWith('.json'))).toEqual([])
  })

  it('sweeps what a dead process left and what is not kept', async () => {
    const images = builder()
    const { key } = await images.describe('node')
    for (const name of [`node-${key}`, 'node-0123456789abcdef', 'python-0123456789abcdef', `node-${key}.01234567.tmp`, 'other']) {
      await mkdir(join(directory, name))
    }
    const removed = await images.sweep(new Set([key]))
    expect(removed.sort((a, b) => (a.runtime < b.runtime ? -1 : 1))).toEqual([
      { runtime: 'node', key: '0123456789abcdef' },
      { runtime: 'python', key: '0123456789abcdef' },
    ])
    expect((await readdir(directory)).sort()).toEqual([`node-${key}`, 'node.sources.json', 'other'])
  })

  it('makes its list of sources anew when that is damaged', async () => {
    const { key } = await builder().describe('node')
    await writeFile(join(directory, 'node.sources.json'), '{"searched": [')
    expect((await builder().describe('node')).key).toBe(key)
  })

  it('says what to do where no Python is found and none can be installed', async ({ skip }) => {
    if (process.getuid?.() === 0) skip('root may install one')
    const empty = join(directory, 'bin')
    await mkdir(empty)
    await chmod(empty, 0o755)
    await expect(builder({ PATH: empty }).prepareRoot('python', context())).rejects.toMatchObject({ code: 'IMAGE_UNAVAILABLE' })
  })
})
