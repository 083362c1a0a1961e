import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { arch } from 'node:os'
import { delimiter, join } from 'node:path'
import { findHostPython, type HostPython } from './hostPython.ts'
import { imageEnv } from './imageEnv.ts'
import { type LibraryClosure, listSharedLibraries, withPlatformLibraries } from './sharedLibraries.ts'

export type Runtime = 'node' | 'python'

/** One file of this host that an image is made from; another size or time makes another image. */
export interface SourceFile {
  readonly path: string
  readonly size: number
  readonly mtimeMs: number
}

/** Everything an image is made from: enough to build it, and to tell that it must be built anew. */
export interface ImageSources {
  readonly runtime: Runtime
  readonly node: { readonly path: string; readonly version: string }
  /** Null for an image without Python; `debian` when this host has none to give. */
  readonly python: HostPython | 'debian' | null
  /** Programs by their name, each the file that is copied. */
  readonly programs: Readonly<Record<string, string>>
  /** Python's own extension modules that are copied. */
  readonly modules: readonly string[]
  readonly libraries: Readonly<Record<string, string>>
  readonly loaders: readonly string[]
  readonly certificates: readonly string[]
  readonly zoneinfo: string | null
  readonly files: readonly SourceFile[]
}

/** Raised when what is made from the same sources changes. */
export const imageRecipe = 3

const programNames =
  'sh env cat ls cp mv rm ln mkdir rmdir chmod touch sleep id uname date head tail wc sort cut tr tee dirname basename realpath readlink stat test expr true false mktemp nproc printf echo seq grep sed setpriv'.split(
    ' ',
  )

/** Modules that need a display, a terminal toolkit or a directory service that no sandbox has, and CPython's own tests. */
const unwantedModule = /^(_tkinter|_test|_ctypes_test|_xxtest|xx|nis\.)/

const bundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
]

/** The key of an image: equal sources make equal images. */
export function toImageKey(sources: ImageSources): string {
  const python = typeof sources.python === 'object' && sources.python ? { ...sources.python } : sources.python
  const made = {
    recipe: imageRecipe,
    arch: arch(),
    env: imageEnv,
    ...sources,
    python,
    files: [...sources.files].sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
  return createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)
}

/** Finds what an image for `runtime` would be made from on this host. The Python image carries Node as well: a package may need both. */
export async function findImageSources(runtime: Runtime, env: Readonly<Record<string, string | undefined>>): Promise<ImageSources> {
  const node = { path: await realpath(process.execPath), version: process.versions.node }
  const python = runtime === 'node' ? null : ((await findHostPython(env)) ?? 'debian')
  const programs = python === 'debian' ? {} : await findPrograms(env)
  const modules = python && python !== 'debian' ? await findModules(python) : []
  const closure: LibraryClosure =
    python === 'debian'
      ? { libraries: new Map(), loaders: [] }
      : await withPlatformLibraries(
          await listSharedLibraries([node.path, ...Object.values(programs), ...modules, ...(python === null ? [] : [python.executable])]),
        )
  const certificates = await findCertificates(env)
  const zoneinfo = (await exists('/usr/share/zoneinfo')) ? '/usr/share/zoneinfo' : null
  const used = [
    node.path,
    ...Object.values(programs),
    ...modules,
    ...closure.libraries.values(),
    ...closure.loaders,
    ...certificates,
    ...(python && python !== 'debian' ? [python.executable, python.pip.path] : []),
  ]
  return {
    runtime,
    node,
    python,
    programs,
    modules,
    libraries: Object.fromEntries([...closure.libraries].sort()),
    loaders: closure.loaders,
    certificates,
    zoneinfo,
    files: await Promise.all([...new Set(used)].map(toSourceFile)),
  }
}

/** Whether every file is still what it was. Before each start, and so by synchronous calls: a tenth of the thread pool's time for some hundred files. */
export function areUnchanged(files: readonly SourceFile[]): boolean {
  return files.every((file) => {
    try {
      const now = statSync(file.path, { throwIfNoEntry: false })
      return now !== undefined && now.mtimeMs === file.mtimeMs && (now.isDirectory() || now.size === file.size)
    } catch {
      return false // What cannot be looked at any more is not what it was.
    }
  })
}

async function toSourceFile(path: string): Promise<SourceFile> {
  const found = await stat(path)
  return { path, size: found.isDirectory() ? 0 : found.size, mtimeMs: found.mtimeMs }
}

async function findPrograms(env: Readonly<Record<string, string | undefined>>): Promise<Record<string, string>> {
  const folders = [...new Set(['/usr/bin', '/bin', ...(env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))])]
  const found: Record<string, string> = {}
  for (const name of programNames) {
    for (const folder of folders) {
      const path = await realpath(join(folder, name)).catch(() => undefined)
      if (path === undefined) continue
      found[name] = path
      break
    }
  }
  return found
}

async function findModules(python: HostPython): Promise<string[]> {
  const folder = join(python.platstdlib, 'lib-dynload')
  const names = (await exists(folder)) ? await readdir(folder) : []
  return names
    .filter((name) => name.endsWith('.so') && !unwantedModule.test(name))
    .sort()
    .map((name) => join(folder, name))
}

/** The host's bundle first, then what its owner added for Node: a machine behind a proxy of its own trusts that proxy in sandboxes too. */
async function findCertificates(env: Readonly<Record<string, string | undefined>>): Promise<string[]> {
  const wanted = [env.SSL_CERT_FILE, ...bundles].filter((path) => path?.startsWith('/'))
  const found: string[] = []
  for (const path of wanted) {
    if (!path || !(await exists(path))) continue
    found.push(await realpath(path))
    break
  }
  const extra = env.NODE_EXTRA_CA_CERTS
  if (extra?.startsWith('/') && (await exists(extra))) {
    const path = await realpath(extra)
    if (!found.includes(path)) found.push(path)
  }
  return found
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
