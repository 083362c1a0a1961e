import type { Module } from './modules.ts'

/** Cycles of static imports, types included, each as a path that ends where it began. One for every group of files that import each other. */
export function importCycles(modules: readonly Module[]): string[] {
  const edges = new Map(
    modules.map(({ path, imports }) => [path, imports.flatMap(({ file, dynamic }) => (file !== null && !dynamic ? [file] : []))]),
  )
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at !== -1) {
      found.push([...trail.slice(at), path].join(' -> '))
      return
    }
    if (done.has(path)) return
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) visit(path, [])
  return found
}
