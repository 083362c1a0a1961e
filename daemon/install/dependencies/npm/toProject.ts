import npa from 'npm-package-arg'
import { PkgdError } from '../../../core/errors.ts'

/** The package.json that npm dependencies are installed from. Specs are validated before; a name may stand only once. */
export function toProject(specs: readonly string[]): { readonly private: true; readonly dependencies: Readonly<Record<string, string>> } {
  const dependencies: Record<string, string> = {}
  for (const spec of specs) {
    const parsed = npa(spec)
    if (!parsed.name) throw new PkgdError('DEPENDENCY_SOURCE', `"${spec}" names no npm package`, { hint: 'write it as name@range' })
    if (parsed.name in dependencies)
      throw new PkgdError('MANIFEST_INVALID', `The npm package ${parsed.name} stands twice in dependencies.packages`)
    dependencies[parsed.name] = parsed.rawSpec === '' ? '*' : parsed.rawSpec
  }
  return { private: true, dependencies: Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1))) }
}
