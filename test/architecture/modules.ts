import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { type Import, readImports } from './readImports.ts'

/** A source file with its imports; paths are relative to the repository's root. */
export interface Module {
  readonly path: string
  readonly source: string
  readonly imports: readonly (Import & {
    /** Path of the imported file, or null for a package or a builtin. */
    readonly file: string | null
    /** Name of the imported npm package, or null. */
    readonly package: string | null
  })[]
}

const sources = '{daemon,registry,sandbox,cli,sdk,demo,test,packages}/**/*.{ts,mts}'

export function toModule(path: string, source: string): Module {
  const imports = readImports(source).map((entry) => {
    const relative = entry.specifier.startsWith('.')
    const builtin = entry.specifier.startsWith('node:')
    return {
      ...entry,
      file: relative ? posix.join(posix.dirname(path), entry.specifier) : null,
      package: relative || builtin ? null : packageOf(entry.specifier),
    }
  })
  return { path, source, imports }
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** Every TypeScript file of the repository, fixtures excluded. */
export function loadModules(root: string): Module[] {
  return globSync(sources, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.includes('node_modules/') && !path.startsWith('test/fixtures/'))
    .sort()
    .map((path) => toModule(path, readFileSync(posix.join(root, path), 'utf8')))
}
