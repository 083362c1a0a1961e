/** One ecosystem's locked packages, `name@version` to SRI. */
type Locked = Readonly<Record<string, string>>

/** Both ecosystems in the lockfile's one table, told apart by a prefix; sorted. */
export function toLocked(installed: { readonly npm: Locked; readonly pypi: Locked }): Record<string, string> {
  const all = (['npm', 'pypi'] as const).flatMap((kind) =>
    Object.entries(installed[kind]).map(([key, integrity]) => [`${kind}:${key}`, integrity] as const),
  )
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function fromLocked(dependencies: Locked): { readonly npm: Locked; readonly pypi: Locked } {
  const of = (kind: string) =>
    Object.fromEntries(
      Object.entries(dependencies).flatMap(([key, integrity]) =>
        key.startsWith(`${kind}:`) ? [[key.slice(kind.length + 1), integrity] as const] : [],
      ),
    )
  return { npm: of('npm'), pypi: of('pypi') }
}
