/** Where things are inside the build sandbox. */
export const boxPaths = { out: '/out', cache: '/cache', wheels: '/wheels' } as const

/** How the wheels come to be: solved afresh from an index, downloaded by exact hash, or all there already. */
export type PipMode = 'solve' | 'locked' | 'kept'

/**
 * The POSIX script that pip runs by. Archives are brought first, into `/out/wheels`, then installed without an index or a solver, so that the same
 * archives give the same tree with no network. Bytecode is compiled for /app and by content, as the tree is read-only and has no times of its own.
 */
export function toPipScript(mode: PipMode, options: { readonly sdist: boolean }): string {
  const { out, cache, wheels } = boxPaths
  const pip = 'python3 -m pip'
  const from = mode === 'kept' ? wheels : `${out}/wheels`
  // A build from source runs the package's own code, which must not reach a cache that others use.
  const caching = options.sdist ? '--no-cache-dir' : `--cache-dir ${cache}`
  const binary = options.sdist ? '' : ' --only-binary :all:'
  const lines = ['set -eu', `mkdir -p ${out}/tmp ${out}/target`, `export TMPDIR=${out}/tmp`]
  if (mode !== 'kept') {
    const exact = mode === 'locked' ? ' --no-deps --require-hashes' : ''
    lines.push(`mkdir -p ${from}`, `${pip} download ${caching}${binary}${exact} --dest ${from} -r ${out}/requirements.txt`)
  }
  const built = options.sdist ? `${out}/built` : from
  if (options.sdist) lines.push(`mkdir -p ${built}`, `${pip} wheel --no-cache-dir --no-deps --wheel-dir ${built} ${from}/*`)
  lines.push(
    // Installed by name and version: by path pip would write the path into the tree.
    `for wheel in ${built}/*.whl; do f=\${wheel##*/}; rest=\${f#*-}; echo "\${f%%-*}==\${rest%%-*}"; done > ${out}/pinned.txt`,
    `${pip} install --no-cache-dir --no-index --find-links ${built} --no-deps --no-compile --no-warn-script-location --target ${out}/target -r ${out}/pinned.txt`,
  )
  // Files that do not compile are ones that are never imported, such as templates.
  lines.push(
    `python3 -m compileall -q --invalidation-mode unchecked-hash -s ${out}/target -p /app/.pkgd/python ${out}/target >/dev/null || true`,
    `rm -rf ${out}/tmp ${out}/built`,
  )
  return lines.join('\n')
}

/** requirements.txt of locked versions; `locked` is `name@version` to SRI. */
export function toLockedRequirements(locked: Readonly<Record<string, string>>): string {
  const lines = Object.entries(locked).map(([key, integrity]) => {
    const at = key.lastIndexOf('@')
    const [algorithm, digest = ''] = integrity.split('-', 2)
    return `${key.slice(0, at)}==${key.slice(at + 1)} --hash=${algorithm}:${Buffer.from(digest, 'base64').toString('hex')}`
  })
  return `${lines.sort().join('\n')}\n`
}
