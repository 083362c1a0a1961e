import semver from 'semver'

// PEP 440, normalised: epoch, release, pre-release, post-release, development release, local version.
const form =
  /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?(\d*))?(?:(?:[-_.]?(?:post|rev|r)[-_.]?(\d*))|-(\d+))?(?:[-_.]?dev[-_.]?(\d*))?(?:\+([a-z0-9._-]+))?$/i

const preReleases: Readonly<Record<string, string>> = { a: 'alpha', alpha: 'alpha', b: 'beta', beta: 'beta' }

/**
 * A PyPI version as the nearest semantic version, in the same order where semver can express it: `1.0` is `1.0.0`, `2.0rc1` is `2.0.0-rc.1`,
 * `1.2.3.4` is `1.2.3+4`. Epochs are dropped. Undefined when it is no version.
 */
export function toSemver(version: string): string | undefined {
  const match = form.exec(version.trim())
  if (!match?.[2]) return semver.valid(version.trim()) ?? undefined
  const [, , release, kind, number, post, shortPost, dev, local] = match
  const [major = '0', minor = '0', patch = '0', ...more] = release.split('.').map((part) => String(BigInt(part)))
  const pre = [
    ...(kind ? [preReleases[kind.toLowerCase()] ?? 'rc', String(Number(number || 0))] : []),
    ...(dev === undefined ? [] : ['dev', String(Number(dev || 0))]),
  ]
  const postNumber = post ?? shortPost
  const build = [
    ...more,
    ...(postNumber === undefined ? [] : ['post', String(Number(postNumber || 0))]),
    ...(local ? local.split(/[._-]+/) : []),
  ].filter(Boolean)
  const result = `${major}.${minor}.${patch}${pre.length > 0 ? `-${pre.join('.')}` : ''}${build.length > 0 ? `+${build.join('.')}` : ''}`
  return semver.valid(result) === null ? undefined : result
}
