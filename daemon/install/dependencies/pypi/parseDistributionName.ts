import { normalizeProjectName } from '../../../../registry/fetch/pypi/wheel.ts'

/** Name and version of a wheel or source archive, the name normalized (PEP 503, PEP 427, PEP 625). Undefined for other files. */
export function parseDistributionName(file: string): { readonly name: string; readonly version: string } | undefined {
  const wheel = /^([^-]+)-([^-]+)(-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl$/.exec(file)
  const source = /^(.+)-([^-]+)\.(?:tar\.gz|zip|tar\.bz2|tgz)$/.exec(file)
  const [, name, version] = wheel ?? source ?? []
  if (name === undefined || version === undefined) return undefined
  return { name: normalizeProjectName(name), version: decodeURIComponent(version) }
}
