/** What a package id looks like: it names containers, folders and URLs. */
export const packageIdPattern = '^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$'

/** Ids that pkgd uses itself: `/mcp/pkgd`, `/mcp/p/…`, `/a2a/mcp-gateway`, the team's leader. */
export const reservedIds: readonly string[] = ['pkgd', 'p', 'mcp-gateway', 'leader']

const pattern = new RegExp(packageIdPattern)

export const isPackageId = (text: string): boolean => pattern.test(text) && !reservedIds.includes(text)

/** The id of a package that names none: the last segment of its registry name, brought to the id pattern. Undefined where nothing usable is left. */
export function toPackageId(registryName: string): string | undefined {
  const id = (registryName.split('/').at(-1) ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, 64)
    .replace(/^[._-]+|[._-]+$/g, '')
  return isPackageId(id) ? id : undefined
}
