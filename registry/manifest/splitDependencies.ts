import { posix } from 'node:path'

/** Which languages a manifest declares, by `dependencies.python`/`node` or by its command. */
export interface Ecosystems {
  readonly python: boolean
  readonly node: boolean
}

export type Ecosystem = 'pypi' | 'npm'

export const ecosystemsOf = (command: unknown, dependencies: { readonly python?: unknown; readonly node?: unknown }): Ecosystems => {
  const program = typeof command === 'string' ? posix.basename(command) : ''
  return {
    python: dependencies.python !== undefined || /^(python|pypy)[0-9.]*$/.test(program),
    node: dependencies.node !== undefined || /^(node|nodejs|npx)$/.test(program),
  }
}

/** Which installer an entry of `dependencies.packages` is for, and the spec without its prefix. Undefined when it is not said. */
export function toEcosystem(spec: string, declared: Ecosystems): { readonly ecosystem: Ecosystem; readonly spec: string } | undefined {
  const [, prefix, rest] = /^(pypi|npm):(.*)$/.exec(spec) ?? []
  if (prefix !== undefined && rest !== undefined) return { ecosystem: prefix === 'pypi' ? 'pypi' : 'npm', spec: rest.trim() }
  if (declared.python === declared.node) return undefined
  return { ecosystem: declared.python ? 'pypi' : 'npm', spec: spec.trim() }
}
