import { execFile } from 'node:child_process'
import { basename } from 'node:path'

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
