/** Name and version of a wheel or source archive, the name normalized (PEP 503, PEP 427, PEP 625). Undefined for other files. */
export function parseDistributionName(file: string): { readonly name: string; readonly version: string } | undefined {
  const wheel = /^([^-]+)-([^-]+)(-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl$/.exec(file)
  const source = /^(.+)-([^-]+)\.(?:tar\.gz|zip|tar\.bz2|tgz)$/.exec(file)
  const [, name, version] = wheel ?? source ?? []
  if (name === undefined || version === undefined) return undefined
  return { name: normalizeName(name), version: decodeURIComponent(version) }
}

/** A project's name in the one form in which names are compared (PEP 503). */
export const normalizeName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-')
