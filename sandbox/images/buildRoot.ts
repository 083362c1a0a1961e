import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { chmod, copyFile, cp, mkdir, readdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { PkgdError } from '../../daemon/core/errors.ts'
import { buildDebianRoot } from './buildDebianRoot.ts'
import type { HostPython } from './hostPython.ts'
import type { ImageSources } from './imageSources.ts'

const run = promisify(execFile)

const mountPoints = ['app', 'data', 'tmp', 'run/pkgd', 'proc', 'dev', 'sys', 'root', 'var', 'home', 'mnt']

const unwanted =
  /(^|\/)(test|tests|idlelib|tkinter|turtledemo|turtle\.py|ensurepip|site-packages|dist-packages|config-[^/]*|EXTERNALLY-MANAGED|sitecustomize\.py|lib-dynload)$|\.opt-[12]\.pyc$/

/**
 * Fills `directory`, which must be empty, with a minimal root: what the sources name, and nothing of the host's configuration.
 * `/bin`, `/sbin`, `/lib` and `/lib64` are links into `/usr`. Errors: IMAGE_UNAVAILABLE.
 */
export async function buildRoot(sources: ImageSources, directory: string, signal: AbortSignal): Promise<void> {
  if (sources.python === 'debian') await buildDebianRoot(directory, signal)
  else await layDirectories(directory, sources.loaders)
  signal.throwIfAborted()
  for (const path of mountPoints) await mkdir(join(directory, path), { recursive: true })
  await chmod(join(directory, 'tmp'), 0o1777)
  await put(sources.node.path, join(directory, 'usr/local/bin/node'))
  if (sources.python !== 'debian') {
    for (const [name, path] of Object.entries(sources.programs)) await put(path, join(directory, 'usr/bin', name))
    await putLibraries(sources, directory)
    if (sources.python) await putPython(sources.python, sources.modules, directory, signal)
    await putTimeZones(sources.zoneinfo, directory)
    await putLocale(directory)
  }
  signal.throwIfAborted()
  await writeConfiguration(sources, directory)
}

async function layDirectories(directory: string, loaders: readonly string[]): Promise<void> {
  for (const path of ['usr/bin', 'usr/sbin', 'usr/lib', 'usr/local/bin', 'etc/ssl/certs'])
    await mkdir(join(directory, path), { recursive: true })
  const tops = new Set(['bin', 'sbin', 'lib', ...loaders.map((loader) => loader.split('/')[1] ?? 'lib')])
  tops.delete('usr')
  for (const top of tops) {
    await mkdir(join(directory, 'usr', top), { recursive: true })
    await symlink(`usr/${top}`, join(directory, top))
  }
}

/** All libraries go where libc is: the one folder that the loader searches without a cache and without a path of the host's. */
async function putLibraries(sources: ImageSources, directory: string): Promise<void> {
  const entries = Object.entries(sources.libraries)
  const libc = entries.find(([name]) => name.startsWith('libc.'))?.[1] ?? sources.loaders[0]
  if (libc === undefined) return
  const folder = inRoot(dirname(libc), directory)
  await mkdir(folder, { recursive: true })
  for (const [name, path] of entries) await put(path, join(folder, name))
  for (const loader of sources.loaders) await put(loader, inRoot(loader, directory))
}

/** Where a path of the host's is in a root whose `/bin`, `/lib` and so on are links into `/usr`. */
function inRoot(path: string, directory: string): string {
  return join(directory, path.startsWith('/usr/') ? path : join('/usr', path))
}

async function putPython(python: HostPython, modules: readonly string[], directory: string, signal: AbortSignal): Promise<void> {
  const prefix = join(directory, python.prefix === '/usr' ? 'usr' : 'usr/local')
  const minor = python.version.split('.').slice(0, 2).join('.')
  await put(python.executable, join(prefix, 'bin', `python${minor}`))
  for (const name of ['python3', 'python']) await symlink(`python${minor}`, join(prefix, 'bin', name))
  const stdlib = join(prefix, relative(python.prefix, python.stdlib))
  for (const source of new Set([python.stdlib, python.platstdlib])) {
    await cp(source, join(prefix, relative(python.prefix, source)), {
      recursive: true,
      dereference: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => !unwanted.test(path.slice(source.length)),
    })
    signal.throwIfAborted()
  }
  const dynload = join(prefix, relative(python.prefix, python.platstdlib), 'lib-dynload')
  await mkdir(dynload, { recursive: true })
  for (const module of modules) await put(module, join(dynload, basename(module)))
  const site = join(stdlib, 'site-packages')
  await mkdir(site, { recursive: true })
  await putPip(python, site)
  // What the host never imported has no bytecode yet, and nothing can be written in a sandbox. Up-to-date files are passed over.
  await run(python.executable, ['-I', '-m', 'compileall', '-q', '-s', directory, stdlib], { signal, maxBuffer: 1 << 20 }).catch(
    (error: unknown) => {
      // A module of the standard library that does not compile is one nobody can import; the others were compiled.
      if (signal.aborted) throw error
    },
  )
}

async function putPip(python: HostPython, site: string): Promise<void> {
  const { kind, path, version } = python.pip
  if (kind === 'wheel') {
    await run(python.executable, ['-I', '-m', 'zipfile', '-e', path, site])
    return
  }
  const options = { recursive: true, dereference: true, preserveTimestamps: true }
  await cp(path, join(site, 'pip'), options)
  const info = `pip-${version}.dist-info`
  await cp(join(dirname(path), info), join(site, info), options)
}

async function putTimeZones(zoneinfo: string | null, directory: string): Promise<void> {
  if (zoneinfo === null) return
  await cp(zoneinfo, join(directory, 'usr/share/zoneinfo'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/\/(posix|right)$/.test(path),
  })
  // Links that lead out of the folder (`localtime`) would name a file of the host's.
  const names = await readdir(join(directory, 'usr/share/zoneinfo'))
  for (const name of names.filter((entry) => entry === 'localtime' || entry === 'posixrules'))
    await rm(join(directory, 'usr/share/zoneinfo', name))
}

/** The one locale that every program can count on; musl has it built in and keeps no folder. */
async function putLocale(directory: string): Promise<void> {
  for (const name of ['C.utf8', 'C.UTF-8']) {
    const source = join('/usr/lib/locale', name)
    if (await stat(source).catch(() => undefined)) await cp(source, join(directory, source), { recursive: true, dereference: true })
  }
}

async function writeConfiguration(sources: ImageSources, directory: string): Promise<void> {
  const files: Record<string, string> = {
    'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/false\n',
    'etc/group': 'root:x:0:\nnogroup:x:65534:\n',
    'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    'etc/hosts': '127.0.0.1\tlocalhost\n::1\tlocalhost\n',
    'etc/hostname': 'sandbox\n',
    'etc/resolv.conf': '',
  }
  for (const [path, content] of Object.entries(files)) {
    await rm(join(directory, path), { force: true })
    await writeFile(join(directory, path), content, { mode: 0o644 })
  }
  const bundles = await Promise.all(sources.certificates.map((path) => readFile(path, 'utf8')))
  const bundle = join(directory, 'etc/ssl/certs/ca-certificates.crt')
  await mkdir(dirname(bundle), { recursive: true })
  if (bundles.length > 0) await writeFile(bundle, bundles.join('\n'), { mode: 0o644 })
  // The folders in which OpenSSL looks by default, as the distributions build it.
  await rm(join(directory, 'etc/ssl/cert.pem'), { force: true })
  await symlink('certs/ca-certificates.crt', join(directory, 'etc/ssl/cert.pem'))
  await mkdir(join(directory, 'usr/lib/ssl'), { recursive: true })
  for (const [link, target] of [
    ['usr/lib/ssl/certs', '/etc/ssl/certs'],
    ['usr/lib/ssl/cert.pem', '/etc/ssl/certs/ca-certificates.crt'],
  ] as const) {
    await rm(join(directory, link), { recursive: true, force: true })
    await symlink(target, join(directory, link))
  }
}

/** Copies the file behind `source`, readable by everyone, with its time. */
async function put(source: string, target: string): Promise<void> {
  try {
    const path = await realpath(source)
    const found = await stat(path)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(path, target, constants.COPYFILE_FICLONE)
    await chmod(target, found.mode & 0o111 ? 0o755 : 0o644)
    await utimes(target, found.atime, found.mtime)
  } catch (error) {
    throw new PkgdError('IMAGE_UNAVAILABLE', `The runtime image cannot be made: ${source} could not be copied`, { cause: error })
  }
}
