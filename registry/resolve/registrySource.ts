/** A place where ids are looked up: a folder of packages, or a registry that npm could use. */
export type RegistrySource =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'npm'; readonly url: string; readonly scope: string | null }

/** What messages and search results call it. */
export const nameRegistry = (registry: RegistrySource): string => (registry.kind === 'folder' ? registry.path : new URL(registry.url).host)

/** The npm package that an id stands for in a registry. */
export const toNpmName = (id: string, scope: string | null): string =>
  scope === null ? id : `${scope.startsWith('@') ? scope : `@${scope}`}/${id}`
