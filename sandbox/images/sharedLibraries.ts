import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** What a set of dynamic executables and modules needs besides itself: libraries by the name the loader looks for, and the loader's own path. */
export interface LibraryClosure {
  readonly libraries: ReadonlyMap<string, string>
  readonly loaders: readonly string[]
}

/** Reads the output of `ldd`, of one file or of several. A library that is not found is left out: the module that wants it is then unusable, as on the host. */
export function parseLdd(output: string): LibraryClosure {
  const libraries = new Map<string, string>()
  const loaders = new Set<string>()
  for (const line of output.split('\n')) {
    const found = /^\s+(\S+) => (\/.+) \(0x[0-9a-f]+\)$/.exec(line)
    if (found?.[1] && found[2]) {
      // An interpreter that was linked by name (`/lib64/ld-linux-x86-64.so.2 => …`) is the loader, not a library.
      if (found[1].startsWith('/')) loaders.add(found[1])
      else libraries.set(basename(found[1]), found[2])
      continue
    }
    const loader = /^\s+(\/\S+) \(0x[0-9a-f]+\)$/.exec(line)
    if (loader?.[1]) loaders.add(loader[1])
  }
  return { libraries, loaders: [...loaders] }
}

/** The libraries that the loader of this host would load for `files`. */
export async function listSharedLibraries(files: readonly string[]): Promise<LibraryClosure> {
  const libraries = new Map<string, string>()
  const loaders = new Set<string>()
  // Static executables among the files make ldd exit with 1; what it printed for the others still holds.
  const output = await new Promise<string>((resolve, reject) => {
    execFile(
      'ldd',
      [...files],
      { maxBuffer: 16 << 20, env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' } },
      (error, stdout) => {
        if (error && typeof error.code !== 'number') reject(error)
        else resolve(stdout)
      },
    )
  })
  const closure = parseLdd(output)
  for (const [name, path] of closure.libraries) libraries.set(name, path)
  for (const loader of closure.loaders) loaders.add(loader)
  return { libraries, loaders: [...loaders] }
}

/** What compiled wheels and addons link to without carrying it (PEP 600, manylinux), of the libraries that come with a C and C++ runtime. */
const platformLibraries =
  'm.so.6 dl.so.2 rt.so.1 pthread.so.0 util.so.1 nsl.so.1 resolv.so.2 crypt.so.1 gcc_s.so.1 stdc++.so.6 atomic.so.1 z.so.1 expat.so.1'
    .split(' ')
    .map((name) => `lib${name}`)

/** `closure` with those of the platform's libraries that this host has beside its libc, and with what they need in turn. */
export async function withPlatformLibraries({ libraries, loaders }: LibraryClosure): Promise<LibraryClosure> {
  const libc = [...libraries].find(([name]) => name.startsWith('libc.'))?.[1]
  if (libc === undefined) return { libraries, loaders }
  const all = new Map(libraries)
  for (const name of platformLibraries.filter((wanted) => !libraries.has(wanted))) {
    const path = join(dirname(libc), name)
    if ((await stat(path).catch(() => undefined)) === undefined) continue
    all.set(name, path)
    for (const [needed, from] of (await listSharedLibraries([path])).libraries) if (!all.has(needed)) all.set(needed, from)
  }
  return { libraries: all, loaders }
}
