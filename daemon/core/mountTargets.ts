/** What every sandbox has of its own, a build's too: no mount goes over them, into them, or over what holds them. */
export const sandboxParts: readonly string[] = [
  '/run/pkgd',
  '/proc',
  '/sys',
  '/dev',
  '/etc/passwd',
  '/etc/group',
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/hostname',
]

/** The same of a package's sandbox. */
export const packageParts: readonly string[] = ['/app', '/tmp', '/data', ...sandboxParts]

/** The one of `parts` that a mount at `target` (plain, absolute, without a trailing slash) would touch. */
export const findTouched = (target: string, parts: readonly string[]): string | undefined =>
  parts.find((part) => target === '/' || target === part || target.startsWith(`${part}/`) || part.startsWith(`${target}/`))
